import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

/** What may be longer than its place. Where it is, the keyboard can reach and move it; `label` says what it is. */
export function Scrolled({ label, className, children }: { label: string; className: string; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const [isLonger, setLonger] = useState(false);
  useLayoutEffect(() => {
    const [outer, inner] = [place.current, inside.current];
    if (!outer || !inner) return undefined;
    const measure = () => setLonger(outer.scrollHeight > outer.clientHeight || outer.scrollWidth > outer.clientWidth);
    const observer = new ResizeObserver(measure);
    measure();
    observer.observe(outer);
    observer.observe(inner);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={place} className={`overflow-auto ${className}`} {...(isLonger && { tabIndex: 0, role: 'group', 'aria-label': label })}>
      <div ref={inside}>{children}</div>
    </div>
  );
}

import { Link, type LinkProps, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

interface ViewsProps {
  /** The name of the page that the tabs belong to. */
  label: string;
  views: readonly (Pick<LinkProps, 'to' | 'params' | 'search'> & { label: string; count?: number | undefined })[];
}

/** The tabs of a page. Each has its own address. */
export function Views({ label, views }: ViewsProps) {
  const strip = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a small screen the strip of tabs is wider than the window, so scroll it to the open tab.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each address has its own tab
  useEffect(() => {
    const here = strip.current?.querySelector<HTMLElement>('[aria-current=page]');
    if (!strip.current || !here) return;
    // scrollIntoView cannot be used, because it would also scroll the page if the strip is below the visible part.
    const { left, right } = strip.current.getBoundingClientRect();
    const place = here.getBoundingClientRect();
    strip.current.scrollLeft += Math.min(0, place.left - left) + Math.max(0, place.right - right);
  }, [pathname]);
  return (
    <nav ref={strip} aria-label={label} className="mt-2 mb-4 flex gap-1 overflow-x-auto border-b border-line">
      {views.map(({ label: name, count, ...place }) => (
        <Link
          key={name}
          {...place}
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ className: 'border-live text-live' }}
          inactiveProps={{ className: 'border-transparent text-muted hover:text-text' }}
          className="-mb-px flex h-9 shrink-0 items-center gap-1.5 border-b-2 px-3 font-medium pointer-coarse:h-11"
        >
          {name}
          {count !== undefined && <span className="text-label font-normal">{count.toLocaleString()}</span>}
        </Link>
      ))}
    </nav>
  );
}

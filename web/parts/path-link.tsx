import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';

interface PathLinkProps {
  path: string | null;
  className?: string;
  /** Where its words alone do not say which of several it is. */
  label?: string;
  children: ReactNode;
}

/** Leads to an address of the dashboard that the server gave; without one it is what it names and no more. */
export function PathLink({ path, className = 'hover:underline', label, children }: PathLinkProps) {
  const router = useRouter();
  if (path === null) return <>{children}</>;
  const follow = (event: MouseEvent): void => {
    // A new tab or window is the browser's business.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    router.history.push(path);
  };
  return (
    <a href={path} className={className} aria-label={label} onClick={follow}>
      {children}
    </a>
  );
}

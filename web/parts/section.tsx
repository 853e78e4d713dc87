import { Link, type LinkProps } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';

/** A part of a page under its own heading; `about` stands beside it. */
export function Section({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  const heading = useId();
  return (
    <section aria-labelledby={heading} className="grid min-w-0 content-start gap-2">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <h2 id={heading}>{title}</h2>
        {about && <span className="text-muted">{about}</span>}
      </div>
      {children}
    </section>
  );
}

interface EmptyStateProps {
  /** Takes away the filter that leaves nothing. */
  all?: (Pick<LinkProps, 'to' | 'search'> & { label: string }) | false;
  children: ReactNode;
}

/** Said where there is nothing to list. */
export function EmptyState({ all, children }: EmptyStateProps) {
  return (
    <div className="mx-auto grid max-w-md justify-items-center gap-3 px-3 py-6 text-center text-muted">
      {children}
      {all && (
        <Link to={all.to} search={all.search} className="link">
          {all.label}
        </Link>
      )}
    </div>
  );
}

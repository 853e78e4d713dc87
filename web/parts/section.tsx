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

/** Said where there is nothing to list. */
export function EmptyState({ children }: { children: ReactNode }) {
  return <div className="mx-auto grid max-w-md justify-items-center gap-3 px-3 py-6 text-center text-muted">{children}</div>;
}

import type { ReactNode } from 'react';

/** A part of the panel under its own heading. */
export function Part({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} className="grid gap-1.5">
      <h3 className="flex flex-wrap items-baseline justify-between gap-x-3 font-semibold">
        {title}
        {about && <span className="font-normal text-muted">{about}</span>}
      </h3>
      {children}
    </section>
  );
}

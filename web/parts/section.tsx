import { Link, type LinkProps } from '@tanstack/react-router';
import { type ReactNode, useId } from 'react';

interface SectionProps {
  title: string;
  /** Stands beside the heading. */
  about?: ReactNode;
  /** The heading takes the focus when something of the section is gone. */
  home?: boolean;
  children: ReactNode;
}

/** A part of a page under its own heading. */
export function Section({ title, about, home = false, children }: SectionProps) {
  const heading = useId();
  return (
    <section aria-labelledby={heading} className="grid min-w-0 content-start gap-2">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <h2 id={heading} {...(home && { 'data-home': true, tabIndex: -1 })}>
          {title}
        </h2>
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

/** A part of a panel under its own heading. */
export function PanelPart({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
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

interface PanelListProps<T> {
  items: readonly T[];
  /** Said where there are none. */
  empty: ReactNode;
  /** How many there are that are not shown. */
  more?: number;
  /** The name of the list, where its heading is not enough. */
  label?: string;
  className?: string;
  /** One item, as an `<li>` with a key. */
  children: (item: T) => ReactNode;
}

/** A short list in a box. */
export function PanelList<T>({ items, empty, more = 0, label, className = '', children }: PanelListProps<T>) {
  return (
    <div className={`panel ${className}`}>
      {items.length === 0 ? (
        <EmptyState>{empty}</EmptyState>
      ) : (
        <ul aria-label={label} className="divide-y divide-line">
          {items.map(children)}
          {more > 0 && <li className="px-3 py-1.5 text-muted">and {more.toLocaleString()} more</li>}
        </ul>
      )}
    </div>
  );
}

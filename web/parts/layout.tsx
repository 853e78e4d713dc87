import { Link, type LinkProps } from '@tanstack/react-router';
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { ApiError } from '../api.ts';
import { useRead } from '../queries.ts';
import { CliCommand } from './command.tsx';
import { counted, UntrustedText } from './values.tsx';

export type Tone = 'quiet' | 'live' | 'good' | 'wait' | 'bad' | 'you';

const LOOK: Record<Tone, { mark: string; colours: string }> = {
  quiet: { mark: '○', colours: 'bg-quiet-tint text-quiet' },
  live: { mark: '●', colours: 'bg-live-tint text-live' },
  good: { mark: '✓', colours: 'bg-good-tint text-good' },
  wait: { mark: '▲', colours: 'bg-wait-tint text-wait' },
  bad: { mark: '✕', colours: 'bg-bad-tint text-bad' },
  you: { mark: '◆', colours: 'bg-you-tint text-you' },
};

/** A status with a colour, a mark and a word, because colour alone is not accessible. */
export function State({ tone, children }: { tone: Tone; children: ReactNode }) {
  const { mark, colours } = LOOK[tone];
  return (
    <span data-state-label className={`inline-flex items-center gap-1 rounded px-1.5 text-label leading-5 font-medium whitespace-nowrap ${colours}`}>
      <span aria-hidden="true">{mark}</span>
      {children}
    </span>
  );
}

/** A message in a coloured box. */
export function Notice({ tone, children, role }: { tone: Tone; children: ReactNode; role?: 'alert' | 'status' }) {
  const { mark, colours } = LOOK[tone];
  return (
    <div role={role} className={`flex gap-2 rounded-md px-3 py-2 ${colours}`}>
      <span aria-hidden="true">{mark}</span>
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}

/** Explains how to sign in again. If the person opens a sign-in link in another tab, this tab is signed in too. */
function FreshSignIn() {
  const me = useRead('identity.me', {}).data;
  return (
    <div className="mt-2 text-text">
      <CliCommand words="open" options={{ developer: me?.developer ?? undefined }} />
    </div>
  );
}

/** Shows an error with the server's message and the next step, at the place where it happened. */
export function Problem({ what, error, onRetry }: { what: string; error: unknown; onRetry?: () => void }) {
  const known = error instanceof ApiError ? error : undefined;
  return (
    <Notice tone="bad" role="alert">
      <p>
        <strong className="font-semibold">{what}</strong> {known?.message ?? String(error)} {known?.suggestion}
      </p>
      {known && <code>{known.code}</code>}
      {known?.code === 'SIGN_IN_AGAIN' && <FreshSignIn />}
      {onRetry && (
        <button type="button" className="button mt-2 flex text-text" onClick={onRetry}>
          Retry
        </button>
      )}
    </Notice>
  );
}

interface SectionProps {
  title: string;
  /** Shown in the same line as the heading, at the end. */
  about?: ReactNode;
  /** If true, the heading gets the focus when the focused element in the section disappears. */
  home?: boolean;
  children: ReactNode;
}

/** A part of a page with its own heading. */
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
  /** A link that removes the filter. */
  all?: (Pick<LinkProps, 'to' | 'search'> & { label: string }) | false;
  children: ReactNode;
}

/** The text in place of an empty list. */
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

/** A part of a panel with its own heading. */
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
  /** Shown if there are no items. */
  empty: ReactNode;
  /** How many items are not shown. */
  more?: number;
  /** The name of the list for screen readers, if the heading is not enough. */
  label?: string;
  className?: string;
  /** Renders one item as an `<li>` with a key. */
  children: (item: T) => ReactNode;
}

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

/** A list of names, such as paths or symbols, with their number as the heading. */
export function NameList({ unit, names }: { unit: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <div className="grid gap-1">
      <h3 className="text-muted">{counted(names.length, unit)}</h3>
      <ul className="mono grid gap-0.5">
        {names.map((name) => (
          <li key={name}>
            <UntrustedText text={name} />
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A box that scrolls if its content is too large. Keyboard users can then focus it. `label` is its name for screen readers. */
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

/** The class names are written in full, because Tailwind does not find names that are put together at run time. */
export const FILLS: Record<Tone, string> = {
  quiet: 'bg-quiet',
  live: 'bg-live',
  good: 'bg-good',
  wait: 'bg-wait',
  bad: 'bg-bad',
  you: 'bg-you',
};

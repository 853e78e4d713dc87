import { Link, useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import { useByClock } from '../live/clock.ts';
import { preferences } from '../preferences.ts';
import { CopyOutcome, useCopy } from './copy.tsx';

/** Marks that would reverse the text after them, even in a sentence that quotes them. */
const DIRECTION_MARKS = /[\u202A-\u202E\u2066-\u2069]/g;

/** For titles and labels, where no element can isolate the text. */
export const escapeBidi = (text: string): string => text.replace(DIRECTION_MARKS, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`);

/** Text from other people or agents: its writing direction cannot affect the text around it. `brief` cuts it to two lines, or to one. */
export function UntrustedText({ text, brief = false, className = '' }: { text: string; brief?: boolean | 'line'; className?: string }) {
  const shown = escapeBidi(text);
  return brief ? (
    <bdi title={shown} className={`${brief === 'line' ? 'block truncate text-left' : 'line-clamp-2 text-left wrap-anywhere'} ${className}`}>
      {brief === 'line' ? shown : withLineBreaks(shown)}
    </bdi>
  ) : (
    <bdi className={`wrap-anywhere whitespace-pre-wrap ${className}`}>{withLineBreaks(shown)}</bdi>
  );
}

/** Texts from other people or agents, as a list. */
export function TextList({ texts }: { texts: readonly string[] }) {
  return (
    <ul className="list-disc pl-5">
      {texts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two texts may be the same
        <li key={index}>
          <UntrustedText text={text} />
        </li>
      ))}
    </ul>
  );
}

/** People call a repository by the last part of its path. */
export function RepositoryName({ path }: { path: string }) {
  return (
    <span title={path}>
      <UntrustedText text={path.split(/[\\/]/).findLast(Boolean) ?? path} brief />
    </span>
  );
}

const LONGEST_NAME = 100;

/** A name without a space ends its line where it has a joint, if it can: `codex@`, `tool:agent_`. */
function withLineBreaks(text: string): ReactNode {
  if (text.length > LONGEST_NAME || /\s/.test(text)) return text;
  const [first = '', ...rest] = text.split(/(?<=[@:/_.#])(?=\w)/);
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one name have no other name
  return [first, ...rest.flatMap((part, at) => [<wbr key={at} />, part])];
}

/** The name of every private developer. */
export const PRIVATE_DEVELOPER = '@private';

/** `codex@mira`; just `@private` for a private developer. */
export const workerOf = (developer: string, agent: string | null): string =>
  agent === null || developer === PRIVATE_DEVELOPER ? developer : `${agent}@${developer}`;

/** `codex@mira` as a link to the agent's page; agents of private developers have no id and no page. */
export function AgentName({ name, id, brief = true }: { name: string; id: string | null; brief?: boolean }) {
  if (id === null) return <UntrustedText text={name} brief={brief} />;
  return (
    <Link to="/agents/$agent" params={{ agent: id }} className="hover:underline">
      <UntrustedText text={name} brief={brief} />
    </Link>
  );
}

interface PathLinkProps {
  path: string | null;
  className?: string;
  /** The name for screen readers, if several links have the same words. */
  label?: string;
  children: ReactNode;
}

/** A link to an address of the dashboard that the server gave; plain text if it gave none. */
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

const ID = /^([a-z]+)_[0-9A-Z]{20,}$/;
export const isId = (text: string): boolean => ID.test(text);

/** Prefix and last six; the whole where it is not one of our ids. */
export const shortId = (id: string): string => (isId(id) ? id.replace(ID, `$1_…${id.slice(-6)}`) : id);

/** Shortened; a click copies the whole. */
export function Id({ id }: { id: string }) {
  const { outcome, copy } = useCopy(id);
  const said = outcome === 'copied' ? 'copied' : outcome === 'failed' ? id : shortId(id);
  return (
    <span className="relative">
      <button
        type="button"
        className="mono rounded text-left hover:underline"
        title={`${id} (click copies)`}
        aria-label={`${said}, copies ${id}`}
        onClick={copy}
      >
        {said}
      </button>
      <CopyOutcome words={outcome === 'idle' ? undefined : said} />
    </span>
  );
}

/** "1 task", "12 tasks": a number without its unit says nothing. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count.toLocaleString()} ${count === 1 ? one : many}`;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SHAPE = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const LOCAL = new Intl.DateTimeFormat(undefined, SHAPE);
const UTC = new Intl.DateTimeFormat(undefined, { ...SHAPE, timeZone: 'UTC', timeZoneName: 'short' });

export const dateOf = (at: number): string => (preferences().utc ? UTC : LOCAL).format(at);

/** "8 s", "12 m", "3 h", then the local date. */
export const Time = ({ at }: { at: number }) => <Moment at={at} words={ago} />;

/** A future time: "in 12 m", and "now" once it has come. */
export const Until = ({ at }: { at: number }) => <Moment at={at} words={until} />;

function Moment({ at, words }: { at: number; words: (at: number, now: number) => string }) {
  const text = useByClock((now) => words(at, now));
  const iso = new Date(at).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {text}
    </time>
  );
}

function until(at: number, now: number): string {
  if (at <= now) return 'now';
  const left = span(at - now);
  return left === undefined ? dateOf(at) : `in ${left}`;
}

// The server's clock may be a little ahead of this machine's.
const ago = (at: number, now: number): string => span(Math.max(0, now - at)) ?? dateOf(at);

function span(length: number): string | undefined {
  if (length < MINUTE) return `${Math.floor(length / 1_000)} s`;
  if (length < HOUR) return `${Math.floor(length / MINUTE)} m`;
  return length < DAY ? `${Math.floor(length / HOUR)} h` : undefined;
}

/** "36 ms", "1.4 s". */
export const milliseconds = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

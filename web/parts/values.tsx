import { Link, useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import { useByClock } from '../live/clock.ts';
import { preferences } from '../preferences.ts';
import { CopyOutcome, useCopy } from './copy.tsx';

/** Characters that change the writing direction of the text after them. */
const DIRECTION_MARKS = /[\u202A-\u202E\u2066-\u2069]/g;

/** Makes direction marks visible. Used in titles and labels, where no HTML element can isolate the text. */
export const escapeBidi = (text: string): string => text.replace(DIRECTION_MARKS, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`);

/**
 * Shows text from other people or agents in such a way that its writing direction cannot affect the text around it. `brief` cuts the text to two lines, and
 * `brief="line"` to one.
 */
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

/** Shows the last part of a repository's path, because people use that as its name. */
export function RepositoryName({ path }: { path: string }) {
  return (
    <span title={path}>
      <UntrustedText text={path.split(/[\\/]/).findLast(Boolean) ?? path} brief />
    </span>
  );
}

const LONGEST_NAME = 100;

/** Lets a long name without spaces wrap after its separators, as in `codex@` or `tool:agent_`. */
function withLineBreaks(text: string): ReactNode {
  if (text.length > LONGEST_NAME || /\s/.test(text)) return text;
  const [first = '', ...rest] = text.split(/(?<=[@:/_.#])(?=\w)/);
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name have no other key
  return [first, ...rest.flatMap((part, at) => [<wbr key={at} />, part])];
}

/** The name that is shown for private developers. */
export const PRIVATE_DEVELOPER = '@private';

/** Returns the name of an agent with its developer, such as `codex@mira`. For a private developer it is only `@private`. */
export const workerOf = (developer: string, agent: string | null): string =>
  agent === null || developer === PRIVATE_DEVELOPER ? developer : `${agent}@${developer}`;

/** Shows the name of an agent, such as `codex@mira`, as a link to its page. Agents of private developers have no id, so their names are not links. */
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

/** A link to a path on the dashboard that came from the server. Without a path, the content is plain text. */
export function PathLink({ path, className = 'hover:underline', label, children }: PathLinkProps) {
  const router = useRouter();
  if (path === null) return <>{children}</>;
  const follow = (event: MouseEvent): void => {
    // Leave clicks that open a new tab or window to the browser.
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

/** Shortens an id to its prefix and its last six characters. Other text is returned unchanged. */
export const shortId = (id: string): string => (isId(id) ? id.replace(ID, `$1_…${id.slice(-6)}`) : id);

/** Shows a shortened id. A click on it copies the full id. */
export function Id({ id }: { id: string }) {
  const { outcome, copy } = useCopy(id);
  const said = outcome === 'copied' ? 'copied' : outcome === 'failed' ? id : shortId(id);
  return (
    <span className="relative">
      <button
        type="button"
        className="mono rounded text-left hover:underline"
        title={`${id} (click to copy)`}
        aria-label={`${said}, copy ${id}`}
        onClick={copy}
      >
        {said}
      </button>
      <CopyOutcome words={outcome === 'idle' ? undefined : said} />
    </span>
  );
}

/** Returns a number with its unit, such as "1 task" or "12 tasks". */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count.toLocaleString()} ${count === 1 ? one : many}`;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SHAPE = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const LOCAL = new Intl.DateTimeFormat(undefined, SHAPE);
const UTC = new Intl.DateTimeFormat(undefined, { ...SHAPE, timeZone: 'UTC', timeZoneName: 'short' });

/** Formats an exact time for charts, labels and tooltips. In all other places use `Time`, `Until` or `Elapsed`. */
export const dateOf = (at: number): string => (preferences().utc ? UTC : LOCAL).format(at);

/** Shows a past time, such as "12 min ago". All times on the dashboard use `Time`, `Until` or `Elapsed`, which show the exact time on hover. */
export const Time = ({ at }: { at: number }) => <Moment at={at} words={ago} />;

/** Shows a future time, such as "in 12 min". When the time has passed, shows "now" and then, for example, "2 min ago". */
export const Until = ({ at }: { at: number }) => <Moment at={at} words={until} />;

/** Shows how long ago a time was, without the word "ago", as in "for 12 min". */
export const Elapsed = ({ since }: { since: number }) => <Moment at={since} words={elapsed} />;

function Moment({ at, words }: { at: number; words: (at: number, now: number) => string }) {
  const text = useByClock((now) => words(at, now));
  const iso = new Date(at).toISOString();
  return (
    <time dateTime={iso} title={iso}>
      {text}
    </time>
  );
}

/** Times below this limit are shown as "just now", because the text would otherwise change every second. */
const JUST_NOW_MS = 5_000;

// Never show a negative time, which could otherwise happen because the server's clock may be slightly ahead of this machine's clock.
const elapsed = (at: number, now: number): string => spanWords(Math.max(0, now - at));
export const ago = (at: number, now: number): string => (now - at < JUST_NOW_MS ? 'just now' : `${elapsed(at, now)} ago`);

export function until(at: number, now: number): string {
  if (at > now) return `in ${spanWords(at - now)}`;
  return now - at < MINUTE ? 'now' : ago(at, now);
}

/** Formats a length of time with one unit, such as "40 s", "12 min", "3 h", "2 days" or "5 months". */
function spanWords(length: number): string {
  if (length < MINUTE) return `${Math.floor(length / 1_000)} s`;
  if (length < HOUR) return `${Math.floor(length / MINUTE)} min`;
  if (length < DAY) return `${Math.floor(length / HOUR)} h`;
  if (length < 60 * DAY) return counted(Math.floor(length / DAY), 'day');
  return length < 730 * DAY ? counted(Math.floor(length / (30 * DAY)), 'month') : counted(Math.floor(length / (365 * DAY)), 'year');
}

/** Formats a short time, such as "36 ms" or "1.4 s". */
export const milliseconds = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

import type { ReactNode } from 'react';

/** They would turn around whatever stands behind them, in a sentence that quotes them too. */
const DIRECTION_MARKS = /[\u202A-\u202E\u2066-\u2069]/g;

/** For a title or a label, which no element can keep apart. */
export const escapeBidi = (text: string): string => text.replace(DIRECTION_MARKS, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`);

/** What somebody else wrote: text, whose writing direction stays its own. `brief` keeps it to two lines, or to one. */
export function UntrustedText({ text, brief = false, className = '' }: { text: string; brief?: boolean | 'line'; className?: string }) {
  const shown = escapeBidi(text);
  return brief ? (
    <bdi title={shown} className={`${brief === 'line' ? 'block truncate text-left' : 'line-clamp-2 text-left wrap-anywhere'} ${className}`}>
      {brief === 'line' ? shown : broken(shown)}
    </bdi>
  ) : (
    <bdi className={`wrap-anywhere whitespace-pre-wrap ${className}`}>{broken(shown)}</bdi>
  );
}

/** What somebody else wrote, as a list. */
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
function broken(text: string): ReactNode {
  if (text.length > LONGEST_NAME || /\s/.test(text)) return text;
  const [first = '', ...rest] = text.split(/(?<=[@:/_.#])(?=\w)/);
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one name have no other name
  return [first, ...rest.flatMap((part, at) => [<wbr key={at} />, part])];
}

const PRIVATE = '@private';

/** `codex@mira`; who is private stays so. */
export const workerOf = (developer: string, agent: string | null): string => (agent === null || developer === PRIVATE ? developer : `${agent}@${developer}`);

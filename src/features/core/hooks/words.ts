import { beginning } from '../../../kernel/excerpt.ts';

/** What somebody wrote, for an agent's context: on one line and in quotes, so that it reads as theirs. */
export const quoted = (text: string, most: number): string => JSON.stringify(beginning(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), most));

const PLAIN_NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]{1,200}$/u;

/** A path as it is, but one that could read as a sentence: a repository may have files, and others claims, that are named to be read. */
export const named = (path: string): string => (PLAIN_NAME.test(path) ? path : quoted(path, 200));

export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Of the agent's own names for it only this one meets the claims of others. */
export const repoCalled = (repo: string): string => `In claims, call this repository ${JSON.stringify(repo)}.`;

/** The first of these paths, and how many more there are. */
export const first = (paths: readonly string[], most: number): string =>
  [...paths.slice(0, most).map(named), ...(paths.length > most ? [`and ${paths.length - most} more`] : [])].join(', ');

/** At least as many as the tokens of names and paths are: to count them exactly would take longer than all the rest. */
export const roughly = (text: string): number =>
  (text.match(/[a-z]{1,3}|[\s\S]/gu) ?? []).reduce((sum, part) => sum + (/[a-z]/.test(part) ? 1 : Buffer.byteLength(part)), 0);

/** A text with only so much room: a line is put on it where it still fits. */
export class Sheet {
  readonly #lines: string[] = [];
  readonly #size: (text: string) => number;
  #left: number;

  constructor(room: number, size: (text: string) => number = Buffer.byteLength) {
    this.#left = room;
    this.#size = size;
  }

  /** Whether it did. */
  put(line: string): boolean {
    const size = this.#size(`${line}\n`);
    if (size > this.#left) return false;
    this.#left -= size;
    this.#lines.push(line);
    return true;
  }

  get left(): number {
    return this.#left;
  }

  get text(): string {
    return this.#lines.join('\n');
  }
}

import { isAbsolute, join } from 'node:path';
import { MOST_EDITS } from '../../features/core/hooks/question.ts';
import { LONGEST_PATH } from '../../machine/git/place.ts';
import type { Written } from '../../machine/git/placed.ts';
import type { Arguments } from './operands.ts';

/** In characters. A server reads lines too, and serves nobody meanwhile. Linux gives no program a longer argument than half of it. */
export const LONGEST_LINE = 256 * 1024;
/** Characters of all paths together: every folder on the way to a file is looked for on disk. */
export const MOST_PATH_CHARACTERS = 100_000;

export interface WrittenFiles {
  readonly files: readonly Written[];
  /** There may be more, which nobody has read. */
  readonly unread: boolean;
}

/** Where commands run: undefined once a `cd` went somewhere unknown. */
export type Folder = string | undefined;

/** As many files as there is room for; when it is full, nothing more is read. */
export class Found {
  readonly files = new Map<string, Written>();
  unread = false;
  full = false;
  #characters = 0;

  note(paths: Arguments, from: Folder, how: Omit<Written, 'path'> = {}): void {
    for (const each of paths) {
      const path = each === '' || each === '-' ? undefined : this.pathOf(each, from);
      if (path !== undefined) this.#keep({ path, ...how });
      if (this.full) return;
    }
  }

  /** Of the working tree that the folder is in. */
  noteFromTop(paths: Arguments, from: Folder): void {
    for (const fromTop of paths) {
      const path = fromTop === undefined ? undefined : this.pathOf('.', from);
      if (path !== undefined && this.pathOf(fromTop, '') !== undefined) this.#keep({ path, tree: true, fromTop: fromTop as string });
      if (this.full) return;
    }
  }

  #keep(file: Written): void {
    const key = JSON.stringify(file);
    if (this.files.has(key)) return;
    if (this.files.size === MOST_EDITS) this.#stop();
    else this.files.set(key, file);
  }

  /** Each costs its length, those that were there before too. */
  pathOf(name: string | undefined, from: Folder): string | undefined {
    if (this.full || name === undefined || name.length > LONGEST_PATH || (from === undefined && !isAbsolute(name))) return undefined;
    const path = isAbsolute(name) || !from ? name : join(from, name);
    this.#characters += path.length;
    if (this.#characters > MOST_PATH_CHARACTERS) this.#stop();
    return this.full || path.length > LONGEST_PATH ? undefined : path;
  }

  #stop(): void {
    this.unread = true;
    this.full = true;
  }
}

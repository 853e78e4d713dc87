import { hash } from 'node:crypto';
import { z } from 'zod';
import { readJson } from '../../storage/columns.ts';
import type { Question } from './standing.ts';
import type { ClientRunRow } from './tables.ts';

/** What lay around before the run began is none of its work. `files`: null where it was too much to remember. */
const found = z.object({ files: z.array(z.string()).nullable(), commits: z.int() });

export const NOTHING_FOUND = '{"files":[],"commits":0}';

/** It is read with every tool that the agent uses. */
const MOST_FILES = 500;

const markOf = (path: string): string => hash('sha256', path).slice(0, 12);

export function foundBy({ dirty_files = [], unpushed_commits = 0 }: Question): string {
  return JSON.stringify({ files: dirty_files.length > MOST_FILES ? null : dirty_files.map(markOf), commits: unpushed_commits });
}

/** What was found and has been pushed since makes no room for commits of the run's own. */
export function stillFound(run: ClientRunRow, { unpushed_commits }: Question): string {
  const { files, commits } = readJson(found, run.found);
  return unpushed_commits === undefined || unpushed_commits >= commits ? run.found : JSON.stringify({ files, commits: unpushed_commits });
}

export interface LeftInTree {
  readonly dirty: readonly string[];
  readonly unpushed: readonly string[];
  readonly commits: number;
}

/** What is not committed or not pushed since the run began. */
export function leftBy(run: ClientRunRow | undefined, { dirty_files = [], unpushed_files = [], unpushed_commits = 0 }: Question): LeftInTree {
  const { files, commits } = readJson(found, run?.found ?? NOTHING_FOUND);
  const known = new Set(files);
  const dirty = files === null ? [] : dirty_files.filter((path) => !known.has(markOf(path)));
  return unpushed_commits > commits ? { dirty, unpushed: unpushed_files, commits: unpushed_commits - commits } : { dirty, unpushed: [], commits: 0 };
}

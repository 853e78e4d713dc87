import { hash } from 'node:crypto';
import { z } from 'zod';
import type { WriteContext } from '../../../kernel/call.ts';
import { readJson } from '../../../storage/rows.ts';
import type { ClientRunRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findSession, MAX_FILES, storeSnapshot } from '../../team/sessions/index.ts';
import type { RunQuestion } from './contract.ts';
import type { SessionListeners } from './session.ts';

/**
 * Changes that existed before the run, so that they do not count as its work. `files`: null if there were too many to remember.
 * `unpushed`: the number of unpushed commits by branch, in the order in which the run was first seen on the branches. `start`:
 * the repository in which the run began, and its number of unpushed commits at that time.
 */
const changesFound = z.object({
  files: z.array(z.string()).nullable(),
  unpushed: z.record(z.string(), z.int()).default({}),
  start: z.object({ repo: z.string(), commits: z.int() }).optional(),
});

export const NO_CHANGES_AT_START = '{"files":[],"unpushed":{}}';

/** Limits the data that a run stores, because every tool call of the agent reads it. */
const MAX_REMEMBERED = 500;
const MAX_BRANCHES = 20;

const markOf = (path: string): string => hash('sha256', path).slice(0, 12);
/** The letter at the beginning prevents keys that consist of digits only, because such keys would not stay in insertion order. */
const branchOf = ({ repo, branch }: RunQuestion): string => `b${markOf(JSON.stringify([repo, branch]))}`;
const repoOf = ({ repo = '' }: RunQuestion): string => markOf(repo);

/** Returns the changes at the start of a run, in the form in which they are stored. */
export function changesAtStart(question: RunQuestion): string {
  const { dirty_files = [], unpushed_commits } = question;
  const files = dirty_files.length > MAX_REMEMBERED ? null : dirty_files.map(markOf);
  if (unpushed_commits === undefined) return JSON.stringify({ files, unpushed: {} });
  const start = { repo: repoOf(question), commits: unpushed_commits };
  return JSON.stringify({ files, unpushed: { [branchOf(question)]: unpushed_commits }, start });
}

/**
 * Updates the number of unpushed commits that a branch had before the run. The number is lowered after a push. Otherwise, earlier
 * commits that were pushed would hide new commits of the run. A branch on which the run is seen for the first time was probably
 * created from the branch on which the run began, so it contains the commits that were unpushed there. In another repository,
 * nobody knows who made the commits, so they do not count as work of the run.
 */
export function updateChangesAtStart(run: ClientRunRow, question: RunQuestion): string {
  const { unpushed_commits: now } = question;
  const { unpushed, start, ...rest } = readJson(changesFound, run.found);
  const branch = branchOf(question);
  const before = unpushed[branch];
  if (now === undefined || (before !== undefined && now >= before)) return run.found;
  const atFirst = start === undefined ? 0 : start.repo === repoOf(question) ? start.commits : now;
  const kept = Object.entries({ ...unpushed, [branch]: Math.min(now, before ?? atFirst) }).slice(-MAX_BRANCHES);
  return JSON.stringify({ ...rest, start, unpushed: Object.fromEntries(kept) });
}

export interface ChangesSinceStart {
  readonly dirty: readonly string[];
  readonly unpushed: readonly string[];
  readonly commits: number;
}

/** Returns the changes since the run began that are not committed or not pushed. */
export function changesSinceStart(run: ClientRunRow | undefined, question: RunQuestion): ChangesSinceStart {
  const { dirty_files = [], unpushed_files = [], unpushed_commits = 0 } = question;
  const { files, unpushed } = readJson(changesFound, run?.found ?? NO_CHANGES_AT_START);
  const known = new Set(files);
  const dirty = files === null ? [] : dirty_files.filter((path) => !known.has(markOf(path)));
  const commits = Math.max(0, unpushed_commits - (unpushed[branchOf(question)] ?? 0));
  return { dirty, unpushed: commits > 0 ? unpushed_files : [], commits };
}

const MAX_FOLDER = 500;

/**
 * Stores the working tree as if the agent had reported it. Does nothing if the client did not send the working tree or the run
 * has no open session.
 */
export async function reportWorkingTree(
  tx: Tx,
  ctx: WriteContext,
  { repo, branch, dirty_files, unpushed_files }: RunQuestion,
  { session_id, folder, repo: known }: ClientRunRow,
  { snapshot: listeners = [] }: SessionListeners,
): Promise<void> {
  if (session_id === null || (dirty_files ?? unpushed_files) === undefined || (repo ?? known) === null) return;
  const session = await findSession(tx.db, tx.workspace, session_id);
  if (session?.ended_at !== null) return;
  const linked = { ...ctx, session: session_id };
  const report = await storeSnapshot(tx, linked, session, {
    session_id,
    repo: repo ?? known ?? undefined,
    branch,
    worktree: folder?.slice(0, MAX_FOLDER),
    dirty_files: dirty_files?.slice(0, MAX_FILES),
    unpushed_files: unpushed_files?.slice(0, MAX_FILES),
  });
  for (const listener of listeners) await listener(tx, linked, report);
}

import type { Input, Output } from '../../../kernel/contract.ts';
import { ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Compared, FileDiff } from '../../../machine/git/diff.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { ProgramTimedOut } from '../../../machine/process/process.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import { shellQuoted } from '../../../wire/shell-quoted.ts';
import { instancesDiff, instancesUnsaved } from './contract.ts';
import { requireWatchable } from './guards.ts';
import { patchLines } from './patch-lines.ts';
import type { InstanceOutside } from './ports.ts';
import { unreadable, unsavedOf } from './unsaved.ts';

/** Actions that read an instance's work on this machine. */
export function diffActions(outside: InstanceOutside): Implementation[] {
  return [
    implement(instancesDiff, {
      read: async ({ instance_id, ...page }, ctx) => {
        const row = await requireWatchable(ctx.reader, ctx.principal, instance_id, outside.machine);
        return ok(await diffOf(outside, row, page, ctx.signal));
      },
    }),
    implement(instancesUnsaved, {
      read: async ({ instance_id }, ctx) => {
        const row = await requireWatchable(ctx.reader, ctx.principal, instance_id, outside.machine);
        return ok(await unsavedOf(outside, ctx.reader, row, ctx.signal));
      },
    }),
  ];
}

const MAX_FILES = 2_000;
const LINES_SHOWN = 500;

interface Found extends Compared {
  readonly of: Output<typeof instancesDiff>['of'];
}

/** Compares the work of an instance with the commit at which the work began. */
export async function diffOf(
  outside: InstanceOutside,
  row: InstanceRow,
  { path, offset }: Omit<Input<typeof instancesDiff>, 'instance_id'>,
  signal: AbortSignal,
): Promise<Output<typeof instancesDiff>> {
  try {
    const compared = await requireFound(outside, row, { signal });
    const files = await outside.disk.changedFiles(compared, { signal });
    return {
      instance_id: row.id,
      of: compared.of,
      branch: row.branch_name,
      base_branch: row.base_branch,
      from: compared.from,
      files: files.slice(0, MAX_FILES),
      total: files.length,
      ...sumOf(files),
      uncommitted: files.filter(({ uncommitted }) => uncommitted).length,
      file: path === undefined ? null : await linesOf(outside, compared, requireChanged(files, path), offset, signal),
    };
  } catch (error) {
    if (!(error instanceof GitFailed || error instanceof ProgramTimedOut)) throw error;
    throw unreadable(`the changes of ${row.id}`, row.worktree_path, error);
  }
}

export const sumOf = (files: readonly FileDiff[]): { added: number; removed: number } => ({
  added: files.reduce((sum, { added }) => sum + (added ?? 0), 0),
  removed: files.reduce((sum, { removed }) => sum + (removed ?? 0), 0),
});

/** Finds the work of an instance: in its worktree, or else on its branch, or else in the backup of a removed worktree. Returns undefined if nothing is left. */
export async function findWork({ disk }: InstanceOutside, row: InstanceRow, options: { signal?: AbortSignal; timeoutMs?: number }): Promise<Found | undefined> {
  const { repository, worktree_path, branch_name, base_branch, base_commit, backup_ref } = row;
  const there = await disk.hasWorktree(repository, worktree_path, options);
  const branch = await disk.resolveCommit(repository, `refs/heads/${branch_name}`, options);
  const kept = branch === null && backup_ref !== null ? await disk.resolveCommit(repository, backup_ref, options) : null;
  const tip = there ? await disk.resolveCommit(worktree_path, 'HEAD', options) : (branch ?? kept);
  if (tip === null) return undefined;
  const base = (await disk.resolveCommit(repository, `refs/heads/${base_branch}`, options)) ?? base_commit ?? tip;
  const common = await disk.mergeBase(repository, base, tip, options);
  // If the base branch already contains all of the work, the work is compared with the commit at which it began.
  const from = common === tip ? (base_commit ?? tip) : (common ?? base);
  if (there) return { of: 'worktree', folder: worktree_path, from, to: null };
  return { of: branch === null ? 'backup' : 'branch', folder: repository, from, to: tip };
}

async function requireFound(outside: InstanceOutside, row: InstanceRow, options: { signal: AbortSignal }): Promise<Found> {
  const found = await findWork(outside, row, options);
  if (found) return found;
  const next =
    row.pr_url === null
      ? `Look for its commits with \`git log ${shellQuoted(row.base_branch)}\`, or on the remote: they were there when its worktree was removed.`
      : `See its pull request ${row.pr_url}.`;
  throw new Refusal('WORK_GONE', `The worktree and branch of ${row.id} do not exist any more.`, next, { instance_id: row.id });
}

function requireChanged(files: readonly FileDiff[], path: string): FileDiff {
  const file = files.find((one) => one.path === path);
  if (file) return file;
  throw new Refusal(
    'FILE_NOT_CHANGED',
    `${JSON.stringify(path)} is not among the changed files.`,
    'Repeat the call without `path` for the list of changed files.',
    { field: 'path' },
  );
}

async function linesOf({ disk }: InstanceOutside, compared: Compared, file: FileDiff, offset: number, signal: AbortSignal) {
  const patch = await disk.patchOf(compared, file, { signal });
  if (patch === null) return { ...file, lines: [], offset, total_lines: null };
  const { lines, total } = patchLines(patch, { offset, limit: LINES_SHOWN });
  return { ...file, lines, offset, total_lines: total };
}

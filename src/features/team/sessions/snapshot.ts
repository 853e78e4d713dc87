import { hash } from 'node:crypto';
import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput } from '../../../kernel/reply.ts';
import { canonicalJson } from '../../../storage/journal.ts';
import { changeRows, deleteRows, findRow, insertRows, matching, newId, readJson } from '../../../storage/rows.ts';
import type { AgentSessionRow, LocalWorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { markFiles, unmarkFiles } from '../overlap/index.ts';
import { SNAPSHOT_HOLDS_MS, type snapshot, WORKTREE_FORGOTTEN_MS } from './contract.ts';
import { paths } from './local-graph.ts';
import { changeActiveSession } from './store.ts';

interface SnapshotReport {
  readonly sessionId: string;
  readonly repo: string;
  readonly branch: string | null;
  /** The dirty and the unpushed files, without duplicates. */
  readonly files: readonly string[];
}

/** Runs after a snapshot is stored and its files are marked as in use. */
export type SnapshotListener = (tx: Tx, ctx: WriteContext, report: SnapshotReport) => Promise<void>;

/** Stores the state of the working tree and marks its files as in use. */
export async function storeSnapshot(
  tx: Tx,
  ctx: WriteContext,
  session: AgentSessionRow,
  input: Input<typeof snapshot>,
): Promise<SnapshotReport & { worktreeId: string }> {
  const repo = input.repo ?? session.repo;
  if (repo === null) throw invalidInput([{ field: 'repo', message: 'is required, because the session has none' }]);
  const branch = input.branch ?? (repo === session.repo ? session.branch : null);
  const place = { developer_id: session.developer_id, repo, branch: branch ?? '', worktree: input.worktree ?? '' };
  const { dirty_files = [], unpushed_files = [], diff_hashes = {}, recent_commits = [] } = input;
  const row: LocalWorktreeRow = {
    workspace_id: tx.workspace,
    id: (await worktreeAt(tx, place))?.id ?? newId('wt', tx.now),
    ...place,
    head: input.head ?? null,
    dirty_files: JSON.stringify(dirty_files),
    unpushed_files: JSON.stringify(unpushed_files),
    diff_hashes: JSON.stringify(diff_hashes),
    session_id: session.id,
    updated_at: tx.now,
  };
  await saveWorktree(tx, row);
  const commits = recent_commits.map((entry, position) => {
    const { sha, title = null } = typeof entry === 'string' ? { sha: entry } : entry;
    return { workspace_id: tx.workspace, worktree_id: row.id, position, repo, sha, title };
  });
  await deleteRows(tx.db, 'repo_commits', { workspace_id: tx.workspace, worktree_id: row.id });
  await insertRows(tx.db, 'repo_commits', commits);
  for (const id of await forgetWorktrees(tx, session.developer_id, tx.now - WORKTREE_FORGOTTEN_MS)) await unmarkFiles(tx, 'snapshot', id);
  await changeActiveSession(tx, session.id, { repo, branch });

  const files = [...new Set([...dirty_files, ...unpushed_files])];
  await markWorktree(tx, row, files);
  if (row.worktree !== '') await leaveOtherBranches(tx, row);
  record(tx, ctx, {
    category: 'work',
    kind: 'session.snapshot',
    subject: session.id,
    payload: {
      worktree_id: row.id,
      repo,
      branch,
      head: row.head,
      dirty_files: dirty_files.length,
      unpushed_files: unpushed_files.length,
      diff_hashes: Object.keys(diff_hashes).length,
      diffs_sha256: hash('sha256', canonicalJson(diff_hashes)),
      recent_commits: commits.length,
    },
  });
  return { sessionId: session.id, repo, branch, files, worktreeId: row.id };
}

async function markWorktree(tx: Tx, row: LocalWorktreeRow, files: readonly string[]): Promise<void> {
  const { id: sourceId, developer_id: developerId, repo } = row;
  const expiresAt = row.updated_at + SNAPSHOT_HOLDS_MS;
  await markFiles(tx, { source: 'snapshot', sourceId, developerId, repo, action: null, label: row.branch || null, expiresAt }, files);
}

/**
 * When a working tree changes its branch, its uncommitted changes come along, so they are removed from the rows of its other branches.
 * Unpushed commits stay with the branch that contains them.
 */
async function leaveOtherBranches(tx: Tx, current: LocalWorktreeRow): Promise<void> {
  for (const row of await otherBranchesOf(tx, current)) {
    await changeRows(tx.db, 'local_worktrees', { workspace_id: tx.workspace, id: row.id }, { dirty_files: '[]' });
    await markWorktree(tx, row, readJson(paths, row.unpushed_files));
  }
}

type Place = Pick<LocalWorktreeRow, 'developer_id' | 'repo' | 'branch' | 'worktree'>;

const worktreeAt = (tx: Tx, { developer_id, repo, branch, worktree }: Place): Promise<LocalWorktreeRow | undefined> =>
  findRow(tx.db, 'local_worktrees', { workspace_id: tx.workspace, repo, developer_id, branch, worktree });

/** Replaces the stored report on the same working tree and branch. */
async function saveWorktree(tx: Tx, row: LocalWorktreeRow): Promise<void> {
  const { workspace_id: _, id: __, developer_id: ___, ...change } = row;
  await tx.db
    .insertInto('local_worktrees')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doUpdateSet(change))
    .execute();
}

/** The reports on the same working tree when it was on other branches. */
const otherBranchesOf = (tx: Tx, { developer_id, repo, branch, worktree }: Place): Promise<LocalWorktreeRow[]> =>
  matching(tx.db, 'local_worktrees', { workspace_id: tx.workspace, repo, developer_id, worktree })
    .selectAll()
    .where('branch', '<>', branch)
    .where('dirty_files', '<>', '[]')
    .execute();

/** The maximum number of working trees that one report deletes. The next report deletes the rest. */
const FORGOTTEN_AT_ONCE = 100;

/** Deletes working trees of this developer that were not reported since `before`. Returns their ids. */
async function forgetWorktrees(tx: Tx, developerId: string, before: number): Promise<string[]> {
  const own = matching(tx.db, 'local_worktrees', { workspace_id: tx.workspace, developer_id: developerId });
  const old = await own.select('id').where('updated_at', '<', before).orderBy('updated_at').limit(FORGOTTEN_AT_ONCE).execute();
  const ids = old.map(({ id }) => id);
  await deleteRows(tx.db, 'repo_commits', { workspace_id: tx.workspace, worktree_id: ids });
  await deleteRows(tx.db, 'local_worktrees', { workspace_id: tx.workspace, id: ids });
  return ids;
}

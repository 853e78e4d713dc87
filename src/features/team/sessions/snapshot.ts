import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { canonicalJson } from '../../../storage/journal.ts';
import { changeRows, countRows, deleteRows, findRow, findRows, insertRows, matching, newId, readJson, view } from '../../../storage/rows.ts';
import type { AgentSessionRow, LocalWorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { markFiles, unmarkFiles } from '../overlap/index.ts';
import { type LocalGraph, SNAPSHOT_HOLDS_MS, type snapshot, WORKTREE_FORGOTTEN_MS, worktreeView } from './contract.ts';
import { changeActiveSession } from './store.ts';

interface SnapshotReport {
  readonly sessionId: string;
  readonly repo: string;
  readonly branch: string | null;
  /** Dirty and unpushed ones, each once. */
  readonly files: readonly string[];
}

/** Runs with every snapshot, after its files are marked. */
export type SnapshotListener = (tx: Tx, ctx: WriteContext, report: SnapshotReport) => Promise<void>;

/** Stores the state of the working tree and marks its files as in hand. */
export async function storeSnapshot(
  tx: Tx,
  ctx: WriteContext,
  session: AgentSessionRow,
  input: Input<typeof snapshot>,
): Promise<SnapshotReport & { worktreeId: string }> {
  const repo = input.repo ?? session.repo;
  if (repo === null) throw invalidInput([{ field: 'repo', message: 'is needed, because the session was started without one' }]);
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

const paths = z.array(z.string());

/** Dirty files move with the working tree when it changes branch; commits that are not pushed stay behind. */
async function leaveOtherBranches(tx: Tx, current: LocalWorktreeRow): Promise<void> {
  for (const row of await otherBranchesOf(tx, current)) {
    await changeRows(tx.db, 'local_worktrees', { workspace_id: tx.workspace, id: row.id }, { dirty_files: '[]' });
    await markWorktree(tx, row, readJson(paths, row.unpushed_files));
  }
}

type Place = Pick<LocalWorktreeRow, 'developer_id' | 'repo' | 'branch' | 'worktree'>;

const worktreeAt = (tx: Tx, { developer_id, repo, branch, worktree }: Place): Promise<LocalWorktreeRow | undefined> =>
  findRow(tx.db, 'local_worktrees', { workspace_id: tx.workspace, repo, developer_id, branch, worktree });

/** The latest report replaces what was known of the same place. */
async function saveWorktree(tx: Tx, row: LocalWorktreeRow): Promise<void> {
  const { workspace_id: _, id: __, developer_id: ___, ...change } = row;
  await tx.db
    .insertInto('local_worktrees')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doUpdateSet(change))
    .execute();
}

/** The same working tree while it stood on other branches. */
const otherBranchesOf = (tx: Tx, { developer_id, repo, branch, worktree }: Place): Promise<LocalWorktreeRow[]> =>
  matching(tx.db, 'local_worktrees', { workspace_id: tx.workspace, repo, developer_id, worktree })
    .selectAll()
    .where('branch', '<>', branch)
    .where('dirty_files', '<>', '[]')
    .execute();

/** So many at a time: the next report forgets the next. */
const FORGOTTEN_AT_ONCE = 100;

/** Working trees of this developer that were not reported since `before`; their ids. */
async function forgetWorktrees(tx: Tx, developerId: string, before: number): Promise<string[]> {
  const own = matching(tx.db, 'local_worktrees', { workspace_id: tx.workspace, developer_id: developerId });
  const old = await own.select('id').where('updated_at', '<', before).orderBy('updated_at').limit(FORGOTTEN_AT_ONCE).execute();
  const ids = old.map(({ id }) => id);
  await deleteRows(tx.db, 'repo_commits', { workspace_id: tx.workspace, worktree_id: ids });
  await deleteRows(tx.db, 'local_worktrees', { workspace_id: tx.workspace, id: ids });
  return ids;
}

/** The newest commits of each working tree. */
async function commitsOf(
  db: Db,
  workspace: string,
  worktreeIds: readonly string[],
  each: number,
): Promise<Map<string, { sha: string; title: string | null }[]>> {
  if (worktreeIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('repo_commits')
    .select(['worktree_id', 'sha', 'title'])
    .where('workspace_id', '=', workspace)
    .where('worktree_id', 'in', worktreeIds)
    .where('position', '<', each)
    .orderBy('position')
    .execute();
  return new Map([...Map.groupBy(rows, (row) => row.worktree_id)].map(([id, of]) => [id, of.map(({ sha, title }) => ({ sha, title }))]));
}

interface GraphBounds {
  readonly worktrees: number;
  readonly files: number;
  readonly commits: number;
}

const BOUNDS: GraphBounds = { worktrees: 20, files: 50, commits: 5 };

const hashes = z.union([z.record(z.string(), z.string()), z.array(z.string())]);

/** Which working trees and branches of a repository are in whose hands, with which files: the one reported last first. */
export async function localGraph(db: Db, workspace: string, repo: string, principal: Principal, bounds: GraphBounds = BOUNDS): Promise<LocalGraph> {
  const rows = await findRows(db, 'local_worktrees', { workspace_id: workspace, repo }, { order: { updated_at: 'desc', id: 'desc' }, limit: bounds.worktrees });
  const commits = await commitsOf(
    db,
    workspace,
    rows.map(({ id }) => id),
    bounds.commits,
  );
  const viewer = await viewerOf(db, principal);
  const worktrees = rows.map((row) => {
    const isSeen = viewer.sees(row.developer_id);
    const dirty = readJson(paths, row.dirty_files);
    const unpushed = readJson(paths, row.unpushed_files);
    return view(worktreeView, row, {
      worktree_id: row.id,
      developer: viewer.name(row.developer_id),
      // A path on somebody's machine usually has their name in it, and a branch often.
      branch: (isSeen && row.branch) || null,
      worktree: (isSeen && row.worktree) || null,
      dirty_files: dirty.slice(0, bounds.files),
      dirty_count: dirty.length,
      unpushed_files: unpushed.slice(0, bounds.files),
      unpushed_count: unpushed.length,
      diff_count: Object.keys(readJson(hashes, row.diff_hashes)).length,
      recent_commits: commits.get(row.id) ?? [],
    });
  });
  return { repo, worktrees, worktree_count: await countRows(db, 'local_worktrees', { workspace_id: workspace, repo }) };
}

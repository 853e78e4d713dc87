import type { Db } from '../../../storage/engine.ts';
import type { LocalWorktreeRow, RepoCommitRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';

type Place = Pick<LocalWorktreeRow, 'developer_id' | 'repo' | 'branch' | 'worktree'>;

export async function worktreeAt(tx: Tx, place: Place): Promise<LocalWorktreeRow | undefined> {
  return await tx.db
    .selectFrom('local_worktrees')
    .selectAll()
    .where('workspace_id', '=', tx.workspace)
    .where('repo', '=', place.repo)
    .where('developer_id', '=', place.developer_id)
    .where('branch', '=', place.branch)
    .where('worktree', '=', place.worktree)
    .executeTakeFirst();
}

/** The latest report replaces what was known of the same place. */
export async function saveWorktree(tx: Tx, row: LocalWorktreeRow): Promise<void> {
  const { workspace_id: _, id: __, developer_id: ___, ...change } = row;
  await tx.db
    .insertInto('local_worktrees')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doUpdateSet(change))
    .execute();
}

/** The same working tree while it stood on other branches. */
export async function otherBranchesOf(tx: Tx, place: Place): Promise<LocalWorktreeRow[]> {
  return await tx.db
    .selectFrom('local_worktrees')
    .selectAll()
    .where('workspace_id', '=', tx.workspace)
    .where('repo', '=', place.repo)
    .where('developer_id', '=', place.developer_id)
    .where('worktree', '=', place.worktree)
    .where('branch', '<>', place.branch)
    .where('dirty_files', '<>', '[]')
    .execute();
}

export async function clearDirtyFiles(tx: Tx, id: string): Promise<void> {
  await tx.db.updateTable('local_worktrees').set({ dirty_files: '[]' }).where('workspace_id', '=', tx.workspace).where('id', '=', id).execute();
}

export async function replaceCommits(tx: Tx, worktreeId: string, rows: readonly RepoCommitRow[]): Promise<void> {
  await tx.db.deleteFrom('repo_commits').where('workspace_id', '=', tx.workspace).where('worktree_id', '=', worktreeId).execute();
  if (rows.length > 0) await tx.db.insertInto('repo_commits').values(rows).execute();
}

/** So many at a time: the next report forgets the next. */
const FORGOTTEN_AT_ONCE = 100;

/** Working trees of this developer that were not reported since `before`; their ids. */
export async function forgetWorktrees(tx: Tx, developerId: string, before: number): Promise<string[]> {
  const old = await tx.db
    .selectFrom('local_worktrees')
    .select('id')
    .where('workspace_id', '=', tx.workspace)
    .where('developer_id', '=', developerId)
    .where('updated_at', '<', before)
    .orderBy('updated_at')
    .limit(FORGOTTEN_AT_ONCE)
    .execute();
  const ids = old.map(({ id }) => id);
  if (ids.length === 0) return [];
  await tx.db.deleteFrom('repo_commits').where('workspace_id', '=', tx.workspace).where('worktree_id', 'in', ids).execute();
  await tx.db.deleteFrom('local_worktrees').where('workspace_id', '=', tx.workspace).where('id', 'in', ids).execute();
  return ids;
}

export async function worktreesOf(db: Db, workspace: string, repo: string, limit: number): Promise<LocalWorktreeRow[]> {
  return await db
    .selectFrom('local_worktrees')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('repo', '=', repo)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function countWorktrees(db: Db, workspace: string, repo: string): Promise<number> {
  const { count } = await db
    .selectFrom('local_worktrees')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspace_id', '=', workspace)
    .where('repo', '=', repo)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The newest commits of each working tree. */
export async function commitsOf(
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

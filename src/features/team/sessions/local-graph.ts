import { z } from 'zod';
import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { countRows, findRows, readJson, view } from '../../../storage/rows.ts';
import { viewerOf } from '../../core/identity/index.ts';
import { type LocalGraph, worktreeView } from './contract.ts';

interface GraphBounds {
  readonly worktrees: number;
  readonly files: number;
  readonly commits: number;
}

const BOUNDS: GraphBounds = { worktrees: 20, files: 50, commits: 5 };

export const paths = z.array(z.string());

const hashes = z.union([z.record(z.string(), z.string()), z.array(z.string())]);

/** The working trees and branches of a repository with their owners and files, most recently reported first. */
export async function localGraph(db: Db, workspace: string, repo: string, principal: Principal, bounds: GraphBounds = BOUNDS): Promise<LocalGraph> {
  const rows = await findRows(db, 'local_worktrees', { workspace_id: workspace, repo }, { order: { updated_at: 'desc', id: 'desc' }, limit: bounds.worktrees });
  const ids = rows.map(({ id }) => id);
  const commits = await commitsOf(db, workspace, ids, bounds.commits);
  const viewer = await viewerOf(db, principal);
  const worktrees = rows.map((row) => {
    const isSeen = viewer.sees(row.developer_id);
    const dirty = readJson(paths, row.dirty_files);
    const unpushed = readJson(paths, row.unpushed_files);
    return view(worktreeView, row, {
      worktree_id: row.id,
      developer: viewer.name(row.developer_id),
      // For private developers, both are hidden: a path on somebody's machine usually contains their name, and a branch often does too.
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

import { z } from 'zod';
import type { Principal } from '../../../kernel/context.ts';
import { readJson } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import { namesFor, PRIVATE } from '../../core/identity/index.ts';
import type { LocalGraph } from './contract.ts';
import { commitsOf, countWorktrees, worktreesOf } from './worktrees.ts';

export interface GraphBounds {
  readonly worktrees: number;
  readonly files: number;
  readonly commits: number;
}

const BOUNDS: GraphBounds = { worktrees: 20, files: 50, commits: 5 };

const paths = z.array(z.string());
const hashes = z.union([z.record(z.string(), z.string()), z.array(z.string())]);

/** Which working trees and branches of a repository are in whose hands, with which files: the one reported last first. */
export async function localGraph(db: Db, workspace: string, repo: string, viewer: Principal | null, bounds: GraphBounds = BOUNDS): Promise<LocalGraph> {
  const rows = await worktreesOf(db, workspace, repo, bounds.worktrees);
  const commits = await commitsOf(
    db,
    workspace,
    rows.map(({ id }) => id),
    bounds.commits,
  );
  const name = await namesFor(db, workspace, viewer);
  const worktrees = rows.map((row) => {
    const developer = name(row.developer_id);
    const dirty = readJson(paths, row.dirty_files);
    const unpushed = readJson(paths, row.unpushed_files);
    return {
      worktree_id: row.id,
      developer,
      // A path on somebody's machine usually has their name in it, and a branch often.
      branch: developer === PRIVATE ? null : row.branch || null,
      worktree: developer === PRIVATE ? null : row.worktree || null,
      head: row.head,
      dirty_files: dirty.slice(0, bounds.files),
      dirty_count: dirty.length,
      unpushed_files: unpushed.slice(0, bounds.files),
      unpushed_count: unpushed.length,
      diff_count: Object.keys(readJson(hashes, row.diff_hashes)).length,
      recent_commits: commits.get(row.id) ?? [],
      updated_at: row.updated_at,
    };
  });
  return { repo, worktrees, worktree_count: await countWorktrees(db, workspace, repo) };
}

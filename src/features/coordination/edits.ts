import { setImmediate as breathe } from 'node:timers/promises';
import { mayBeSameRepo } from '../../kernel/repo.ts';
import type { Db } from '../../storage/engine.ts';
import { covering } from './conflicts.ts';
import { pathOf } from './globs.ts';
import { liveClaimRows, readStrings } from './store.ts';
import type { ClaimRow } from './tables.ts';

interface File {
  readonly repo: string;
  readonly path: string;
}

export interface EditConflict extends File {
  readonly claim: ClaimRow;
}

/** A commit of many files is held against thousands of patterns: others are served in between. */
const AT_ONCE = 10;

/**
 * The files that are under a live exclusive claim which is not the caller's own: while they are, they are not theirs to edit. In the order of
 * the files, each with the claim that lasts longest.
 */
export async function editConflicts(
  db: Db,
  workspace: string,
  files: readonly File[],
  isOwn: (claim: ClaimRow) => boolean,
  now: number,
): Promise<EditConflict[]> {
  if (files.length === 0) return [];
  const held = (await liveClaimRows(db, workspace, now)).filter((claim) => claim.mode === 'exclusive' && !isOwn(claim));
  const repos = [...new Set(files.map(({ repo }) => repo))];
  const claims = held
    .toSorted((a, b) => b.expires_at - a.expires_at)
    .map((claim) => ({
      claim,
      covers: covering(readStrings(claim.paths)),
      repos: new Set(repos.filter((repo) => mayBeSameRepo(claim.repo, repo))),
    }));
  const conflicts: EditConflict[] = [];
  for (const [index, { repo, path }] of files.entries()) {
    if (index > 0 && index % AT_ONCE === 0) await breathe();
    const file = pathOf(path);
    const found = claims.find(({ covers, repos }) => repos.has(repo) && covers(file));
    if (found) conflicts.push({ repo, path, claim: found.claim });
  }
  return conflicts;
}

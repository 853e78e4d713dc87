import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { mayBeSameRepo } from '../../../kernel/repo.ts';
import type { Db } from '../../../storage/engine.ts';
import type { ClaimRow } from '../../../storage/schema-rows.ts';
import { covering } from './conflicts.ts';
import { type Glob, hasWildcard, parseGlob, pathOf, withBeneath } from './globs.ts';
import { liveClaimRows, readStrings } from './store.ts';

interface EditedPath {
  readonly repo: string;
  readonly path: string;
  /** True if the path is a folder. The edit then affects everything below it. */
  readonly tree?: boolean | undefined;
}

export type EditConflict<T extends EditedPath = EditedPath> = T & {
  readonly claim: ClaimRow;
  /** The claimed pattern inside a folder; undefined if the path itself is claimed. */
  readonly within: string | undefined;
};

/** The path of the root of a working tree. All paths are relative to this root. */
const WHOLE = '.';

/** After this many files the loop yields. A commit with many files is compared with thousands of patterns and must not block other requests. */
const BATCH_SIZE = 10;

/**
 * Returns the files that the caller must not edit, because somebody else's live exclusive claim covers them. The files keep their order. If
 * several claims cover a file, it is returned with the claim that expires last.
 */
export async function editConflicts<T extends EditedPath>(
  db: Db,
  workspace: string,
  files: readonly T[],
  isOwn: (claim: ClaimRow) => boolean,
  now: number,
): Promise<EditConflict<T>[]> {
  if (files.length === 0) return [];
  const held = (await liveClaimRows(db, workspace, now)).filter((claim) => claim.mode === 'exclusive' && !isOwn(claim));
  const repos = [...new Set(files.map(({ repo }) => repo))];
  const claims = held
    .toSorted((a, b) => b.expires_at - a.expires_at)
    .map((claim) => ({
      claim,
      covers: reachMatcher(readStrings(claim.paths)),
      repos: new Set(repos.filter((repo) => mayBeSameRepo(claim.repo, repo))),
    }));
  const conflicts: EditConflict<T>[] = [];
  for (const [index, file] of files.entries()) {
    if (index > 0 && index % BATCH_SIZE === 0) await yieldToEventLoop();
    const reach = reachOf(file);
    const found = claims.find(({ covers, repos }) => repos.has(file.repo) && covers(reach));
    if (found) conflicts.push({ ...file, claim: found.claim, within: withinOf(file, found.claim) });
  }
  return conflicts;
}

interface Reach {
  readonly itself: Glob;
  /** For a folder: everything below it. */
  readonly beneath?: Glob;
}

function reachOf({ path, tree }: EditedPath): Reach {
  if (tree && path === WHOLE) return { itself: parseGlob('**') };
  const itself = pathOf(path);
  return tree ? { itself, beneath: withBeneath(itself) } : { itself };
}

/**
 * Whether any of the patterns covers the edited path. A pattern that begins with a wildcard may match files in every folder, so it does not
 * cover a folder: a claim on `*.test.ts` does not block an edit of `dist`. The commit guard checks the files in such a folder one by one.
 */
function reachMatcher(patterns: readonly string[]): (reach: Reach) => boolean {
  const covers = covering(patterns);
  const coversBeneath = covering(patterns.filter((pattern) => !hasWildcard(pattern.charAt(0))));
  return ({ itself, beneath }) => covers(itself) || (beneath !== undefined && coversBeneath(beneath));
}

function withinOf(file: EditedPath, claim: ClaimRow): string | undefined {
  const patterns = readStrings(claim.paths);
  if (!file.tree || (file.path !== WHOLE && covering(patterns)(pathOf(file.path)))) return undefined;
  return patterns.find((pattern) => reachMatcher([pattern])(reachOf(file)));
}

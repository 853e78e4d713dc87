import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { mayBeSameRepo } from '../../../kernel/repo.ts';
import type { Db } from '../../../storage/engine.ts';
import type { ClaimRow } from '../../../storage/schema-rows.ts';
import type { ClaimMode } from './contract.ts';
import { type Glob, hasWildcard, matches, overlap, parseGlob, pathOf, withBeneath } from './globs.ts';
import { liveClaimRows, readStrings } from './store.ts';

/** Who acts. An agent is one run where sessions are known, and one token holder where they are not. */
interface Agent {
  readonly actor: string;
  readonly sessionId: string | null;
}

export const sameAgent = (a: Agent, b: Agent): boolean => a.actor === b.actor && (a.sessionId === null || b.sessionId === null || a.sessionId === b.sessionId);

/** What a claim is over. */
export interface ClaimScope {
  readonly repo: string;
  readonly paths: readonly string[];
  readonly symbols: readonly string[];
}

/** A path or pattern that ends in a plain name covers what is beneath it too: people name a directory by its path. */
function coverage(pattern: string): Glob {
  const path = pattern.replace(/\/$/, '');
  const glob = parseGlob(path);
  return hasWildcard(path.slice(path.lastIndexOf('/') + 1)) ? glob : withBeneath(glob);
}

/** What is wanted is held against every live claim: its patterns are read once. */
const read = new WeakMap<readonly string[], readonly Glob[]>();

function coverages(paths: readonly string[]): readonly Glob[] {
  const globs = read.get(paths) ?? paths.map(coverage);
  read.set(paths, globs);
  return globs;
}

/** Whether a file is under any of these patterns, which are read once for however many files. */
export function covering(patterns: readonly string[]): (file: Glob) => boolean {
  const globs = patterns.map(coverage);
  return (file) => globs.some((glob) => overlap(glob, file));
}

/** `src/a.ts#parseDate` is that name in that file; `parseDate` alone is the name wherever it is. */
function symbolOf(symbol: string): { file: string | null; name: string } {
  const cut = symbol.indexOf('#');
  return cut > 0 ? { file: symbol.slice(0, cut), name: symbol.slice(cut + 1) } : { file: null, name: symbol };
}

function sameSymbol(a: string, b: string): boolean {
  const [x, y] = [symbolOf(a), symbolOf(b)];
  return x.name === y.name && (x.file === null || y.file === null || x.file === y.file);
}

/** Where two territories meet, as the second's owner wrote it. A bare symbol and a path say nothing of each other. */
export function intersection(a: ClaimScope, b: ClaimScope): { paths: string[]; symbols: string[] } {
  if (!mayBeSameRepo(a.repo, b.repo)) return { paths: [], symbols: [] };
  const covered = coverages(a.paths);
  const files = a.symbols.flatMap((symbol) => symbolOf(symbol).file ?? []);
  const paths = b.paths.filter((path) => {
    const theirs = coverage(path);
    return covered.some((own) => overlap(own, theirs)) || files.some((file) => matches(theirs, file));
  });
  const symbols = b.symbols.filter((symbol) => {
    const { file } = symbolOf(symbol);
    return a.symbols.some((own) => sameSymbol(own, symbol)) || (file !== null && covered.some((own) => matches(own, file)));
  });
  return { paths, symbols };
}

export const territoriesMeet = (a: ClaimScope, b: ClaimScope): boolean => {
  const { paths, symbols } = intersection(a, b);
  return paths.length + symbols.length > 0;
};

/** Shared claims bear each other; an exclusive one bears nothing of another agent's. */
const modesClash = (a: ClaimMode, b: ClaimMode): boolean => a === 'exclusive' || b === 'exclusive';

export interface Claimed extends Agent, ClaimScope {
  readonly mode: ClaimMode;
}

export const conflict = (a: Claimed, b: Claimed): boolean => modesClash(a.mode, b.mode) && !sameAgent(a, b) && territoriesMeet(a, b);

/** The files that a claim names outright. */
export const literalPaths = (paths: readonly string[]): string[] => [
  ...new Set(paths.filter((path) => !hasWildcard(path)).map((path) => path.replace(/\/$/, ''))),
];

interface Written {
  readonly repo: string;
  readonly path: string;
  /** A folder, with all that lies beneath it. */
  readonly tree?: boolean | undefined;
}

export type EditConflict<T extends Written = Written> = T & {
  readonly claim: ClaimRow;
  /** What of a folder is claimed; undefined where the path itself is. */
  readonly within: string | undefined;
};

/** The top of a working tree, as a path in it. */
const WHOLE = '.';

/** A commit of many files is held against thousands of patterns: others are served in between. */
const BATCH_SIZE = 10;

/**
 * The files that are under a live exclusive claim which is not the caller's own: while they are, they are not theirs to edit. In the order of
 * the files, each with the claim that lasts longest.
 */
export async function editConflicts<T extends Written>(
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
  /** Of a folder, with all that lies in it. */
  readonly beneath?: Glob;
}

function reachOf({ path, tree }: Written): Reach {
  if (tree && path === WHOLE) return { itself: parseGlob('**') };
  const itself = pathOf(path);
  return tree ? { itself, beneath: withBeneath(itself) } : { itself };
}

/**
 * Whether any of the patterns is over what is written. One that begins with a wildcard may have files in every folder: nobody who names
 * `dist` is in the way of all `*.test.ts`, and what of these was in it the commit guard sees.
 */
function reachMatcher(patterns: readonly string[]): (reach: Reach) => boolean {
  const covers = covering(patterns);
  const coversBeneath = covering(patterns.filter((pattern) => !hasWildcard(pattern.charAt(0))));
  return ({ itself, beneath }) => covers(itself) || (beneath !== undefined && coversBeneath(beneath));
}

function withinOf(file: Written, claim: ClaimRow): string | undefined {
  const patterns = readStrings(claim.paths);
  if (!file.tree || (file.path !== WHOLE && covering(patterns)(pathOf(file.path)))) return undefined;
  return patterns.find((pattern) => reachMatcher([pattern])(reachOf(file)));
}

import { mayBeSameRepo } from '../../../kernel/repo.ts';
import type { ClaimMode } from './contract.ts';
import { type Glob, hasWildcard, matches, overlap, parseGlob, withBeneath } from './globs.ts';

/** The code that a claim covers. */
export interface ClaimScope {
  readonly repo: string;
  readonly paths: readonly string[];
  readonly symbols: readonly string[];
}

/** The holder of a claim: the session, or only the actor if the claim was made without a session. */
interface ClaimHolder {
  readonly actor: string;
  readonly sessionId: string | null;
}

export interface Claimed extends ClaimHolder, ClaimScope {
  readonly mode: ClaimMode;
}

export const conflict = (a: Claimed, b: Claimed): boolean => modesClash(a.mode, b.mode) && !sameAgent(a, b) && scopesMeet(a, b);

/** Shared claims are compatible. An exclusive claim conflicts with every claim of another agent. */
const modesClash = (a: ClaimMode, b: ClaimMode): boolean => a === 'exclusive' || b === 'exclusive';

export const sameAgent = (a: ClaimHolder, b: ClaimHolder): boolean =>
  a.actor === b.actor && (a.sessionId === null || b.sessionId === null || a.sessionId === b.sessionId);

export const scopesMeet = (a: ClaimScope, b: ClaimScope): boolean => {
  const { paths, symbols } = intersection(a, b);
  return paths.length + symbols.length > 0;
};

/** Returns the paths and symbols of `b` that overlap with `a`. A path never overlaps with a symbol that does not name its file. */
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

/** If the last segment has no wildcard, the pattern also covers everything below it, because people claim a directory by its plain path. */
function coverage(pattern: string): Glob {
  const path = pattern.replace(/\/$/, '');
  const glob = parseGlob(path);
  return hasWildcard(path.slice(path.lastIndexOf('/') + 1)) ? glob : withBeneath(glob);
}

/** Caches parsed patterns, because a requested scope is compared with every live claim. */
const read = new WeakMap<readonly string[], readonly Glob[]>();

function coverages(paths: readonly string[]): readonly Glob[] {
  const globs = read.get(paths) ?? paths.map(coverage);
  read.set(paths, globs);
  return globs;
}

/** Tests whether a file is under any of these patterns. The patterns are parsed once for all files. */
export function covering(patterns: readonly string[]): (file: Glob) => boolean {
  const globs = patterns.map(coverage);
  return (file) => globs.some((glob) => overlap(glob, file));
}

/** `src/a.ts#parseDate` means the symbol in that file. `parseDate` alone means a symbol of this name in any file. */
function symbolOf(symbol: string): { file: string | null; name: string } {
  const cut = symbol.indexOf('#');
  return cut > 0 ? { file: symbol.slice(0, cut), name: symbol.slice(cut + 1) } : { file: null, name: symbol };
}

function sameSymbol(a: string, b: string): boolean {
  const [x, y] = [symbolOf(a), symbolOf(b)];
  return x.name === y.name && (x.file === null || y.file === null || x.file === y.file);
}

/** Returns only the paths without wildcards. */
export const literalPaths = (paths: readonly string[]): string[] => [
  ...new Set(paths.filter((path) => !hasWildcard(path)).map((path) => path.replace(/\/$/, ''))),
];

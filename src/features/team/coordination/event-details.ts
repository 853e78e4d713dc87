import { bytesOf, excerpt } from '../../../kernel/excerpt.ts';
import type { ClaimRow } from '../../../storage/schema-rows.ts';
import { readStrings } from './store.ts';

/** Maximum sizes of the parts of an event. If the whole payload exceeds the journal's limit, the journal stores only a digest of it. */
const MESSAGE_BYTES = 2_000;
const PATHS_BYTES = 1_500;
const SYMBOLS_BYTES = 1_000;
const NAME_BYTES = 500;

/** Leaves out the items that no longer fit into `maxBytes`. */
function firstOf(list: readonly string[], maxBytes: number): string[] {
  let room = maxBytes;
  return list.filter((item) => (room -= bytesOf(item) + 3) >= 0);
}

interface EventDetails {
  message?: string | null;
  reason?: string | null;
  answer?: string | null;
  repo?: string | null;
  branch?: string | null;
  paths?: readonly string[];
  symbols?: readonly string[];
}

/** Cuts the parts of a work event that the caller wrote to the limits above, and counts the paths and symbols that it leaves out. */
export function boundedDetails({ message, reason, answer, repo, branch, paths = [], symbols = [] }: EventDetails): Record<string, unknown> {
  const cut = (text: string | null | undefined, bytes: number) => (text == null ? undefined : excerpt(text, bytes));
  const kept = { paths: firstOf(paths, PATHS_BYTES), symbols: firstOf(symbols, SYMBOLS_BYTES) };
  const omitted = (all: readonly string[], some: readonly string[]) => (all.length > some.length ? all.length - some.length : undefined);
  return {
    message: cut(message, MESSAGE_BYTES),
    answer: cut(answer, MESSAGE_BYTES),
    reason: cut(reason, NAME_BYTES),
    repo: cut(repo, NAME_BYTES),
    branch: cut(branch, NAME_BYTES),
    paths: paths.length > 0 ? kept.paths : undefined,
    paths_omitted: omitted(paths, kept.paths),
    symbols: symbols.length > 0 ? kept.symbols : undefined,
    symbols_omitted: omitted(symbols, kept.symbols),
  };
}

export const claimDetails = (row: ClaimRow): Record<string, unknown> => ({
  claim_id: row.id,
  mode: row.mode,
  ...boundedDetails({ repo: row.repo, paths: readStrings(row.paths), symbols: readStrings(row.symbols) }),
});

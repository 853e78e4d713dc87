import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isSignedOut } from './api.ts';

const VIEWER = ['identity.me', {}] as const;

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  // No retries: events report changes, and the live connection notices when the server is back.
  defaultOptions: { queries: { retry: false, networkMode: 'always' }, mutations: { networkMode: 'always' } },
});

/** If a call finds that the session has ended, the sign-in page replaces the whole page. */
function onError(error: unknown): void {
  if (isSignedOut(error) && queries.getQueryState(VIEWER)?.status === 'success') rereadViewer();
}

/** Reloads the signed-in viewer. If the session has ended, the sign-in page appears. */
export const rereadViewer = (): void => void queries.resetQueries({ queryKey: VIEWER });

/** Reads that were in progress when data changed, and may miss the change. Each promise settles after the repeated read. */
const outdated = new Map<string, PromiseWithResolvers<void>>();

/**
 * Reloads all visible data and settles when every read has finished. A read in progress is not aborted but repeated after it ends: otherwise
 * a read that takes longer than the time between two changes would never finish.
 */
export async function readNow(): Promise<void> {
  const underWay = queries.getQueryCache().findAll({ fetchStatus: 'fetching', predicate: (query) => !query.isStatic() });
  const repeated = underWay.map(({ queryHash }) => {
    const again = outdated.get(queryHash) ?? Promise.withResolvers<void>();
    outdated.set(queryHash, again);
    return again.promise;
  });
  await Promise.all([queries.invalidateQueries({ fetchStatus: 'idle' }), ...repeated]);
}

queries.getQueryCache().subscribe(({ type, query }) => {
  const again = outdated.get(query.queryHash);
  if (!again || (type !== 'removed' && (type !== 'updated' || query.state.fetchStatus !== 'idle'))) return;
  outdated.delete(query.queryHash);
  again.resolve(queries.invalidateQueries({ queryKey: query.queryKey, exact: true }));
});

/** The minimum time between two reloads, because many events may arrive together. */
const READ_AGAIN_MS = 1_000;
let lastRead = Number.NEGATIVE_INFINITY;
let nextRead: ReturnType<typeof setTimeout> | undefined;

/** Reloads after an event, at most once a second. Uses the monotonic clock: if the wall clock were set back an hour, reloads would stop for an hour. */
export function readAgain(): void {
  const wait = lastRead + READ_AGAIN_MS - performance.now();
  if (wait > 0) {
    nextRead ??= setTimeout(onTime, wait);
    return;
  }
  clearTimeout(nextRead);
  nextRead = undefined;
  lastRead = performance.now();
  void readNow();
}

/** A timer may fire slightly early; `readAgain` then sets it again. */
function onTime(): void {
  nextRead = undefined;
  readAgain();
}

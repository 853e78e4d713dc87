import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isSignedOut } from './api.ts';

const VIEWER = ['identity.me', {}] as const;

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  // Failed calls are not retried, because events trigger a reload, and the live connection detects when the server is available again.
  defaultOptions: { queries: { retry: false, networkMode: 'always' }, mutations: { networkMode: 'always' } },
});

/** If an error shows that the session has ended, replaces the page with the sign-in page. */
function onError(error: unknown): void {
  if (isSignedOut(error) && queries.getQueryState(VIEWER)?.status === 'success') rereadViewer();
}

/** Asks the server again who is signed in. If the session has ended, the sign-in page appears. */
export const rereadViewer = (): void => void queries.resetQueries({ queryKey: VIEWER });

/** Reads that were in progress when data changed, so that their results may be outdated. Each promise settles when the read was repeated. */
const outdated = new Map<string, PromiseWithResolvers<void>>();

/**
 * Loads all visible data again, and settles when all reads have finished. A read in progress is not aborted but repeated afterwards. If it were aborted, a
 * slow read would never finish while changes keep arriving.
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

/** The minimum time between two reloads, because many events may arrive at once. */
const READ_AGAIN_MS = 1_000;
let lastRead = Number.NEGATIVE_INFINITY;
let nextRead: ReturnType<typeof setTimeout> | undefined;

/**
 * Loads all visible data again after an event, but at most once a second. The time is measured with a monotonic clock, because if the clock of the machine
 * were set back by an hour, reloads would stop for an hour.
 */
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

/** Called by the timer. If it fires slightly too early, `readAgain` starts it again. */
function onTime(): void {
  nextRead = undefined;
  readAgain();
}

import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isSignedOut } from './api.ts';

const VIEWER = ['identity.me', {}] as const;

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  // No retries: events report changes, and the live connection notices when the server is back.
  defaultOptions: { queries: { retry: false, networkMode: 'always' }, mutations: { networkMode: 'always' } },
});

/** When any call finds that the sign-in has ended, the whole page shows the sign-in page. */
function onError(error: unknown): void {
  if (isSignedOut(error) && queries.getQueryState(VIEWER)?.status === 'success') rereadViewer();
}

/** Reads again who is signed in: the page of a viewer whose session has ended becomes the sign-in page. */
export const rereadViewer = (): void => void queries.resetQueries({ queryKey: VIEWER });

/** Reads that were under way when something changed and may miss the change. Each settles once it has been repeated. */
const outdated = new Map<string, PromiseWithResolvers<void>>();

/**
 * Reads everything that is shown again, and settles when all of it has been read. A read that is under way is not aborted but repeated
 * once it has ended: otherwise a read that takes longer than the time between two changes would never end.
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

/** Many events may come at once: the page is read again at most this often. */
const READ_AGAIN_MS = 1_000;
let lastRead = Number.NEGATIVE_INFINITY;
let nextRead: ReturnType<typeof setTimeout> | undefined;

/** Reads again after an event, at most once a second. It uses the monotonic clock: if the wall clock were set back an hour, nothing would be read for an hour. */
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

/** A timer may fire a moment early, and is then set once more. */
function onTime(): void {
  nextRead = undefined;
  readAgain();
}

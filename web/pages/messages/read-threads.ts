import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { type ActionResult, call } from '../../api.ts';
import type { MessageSearch } from '../../search.ts';

/** What is overdue becomes so by time alone. */
const LOOK_MS = 30_000;

/** A page at a time; what is shown already is read again with each event. */
export function useThreads(
  { kind, state, mine }: MessageSearch,
  repo: string | undefined,
): UseInfiniteQueryResult<InfiniteData<ActionResult<'messages.threads'>>> {
  const wanted = { ...(kind && { kind }), ...(state && { state }), ...(mine && { mine }), ...(repo !== undefined && { repo }) };
  return useInfiniteQuery({
    queryKey: ['messages.threads', 'pages', wanted],
    queryFn: ({ pageParam: before, signal }) => call('messages.threads', { ...wanted, ...(before && { before }) }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: LOOK_MS,
  });
}

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type ActionInput, type ActionResult, call, type Instance } from '../../api.ts';

const PAGE = 100;
/** As old as the server's own reading may be. */
const SIZES_MS = 15_000;

export type Sizes = ReadonlyMap<string, ActionResult<'instances.sizes'>['items'][number]>;

/** The newest first, page after page. */
export function useInstances(filter: Pick<ActionInput<'instances.list'>, 'status' | 'type' | 'repository'>) {
  return useInfiniteQuery({
    queryKey: ['instances.list', filter],
    queryFn: ({ pageParam, signal }) => call('instances.list', { ...filter, limit: PAGE, offset: pageParam }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) => {
      const read = pages.reduce((sum, { items }) => sum + items.length, 0);
      return read < total ? read : undefined;
    },
    placeholderData: keepPreviousData,
  });
}

/** How much the first of them have changed. No event tells of it: files change by themselves. */
export function useSizes(rows: readonly Instance[]): Sizes {
  const ids = rows
    .filter(({ ended_at, kept_reason }) => ended_at === null || kept_reason !== null)
    .slice(0, PAGE)
    .map(({ id }) => id);
  const { data } = useQuery({
    queryKey: ['instances.sizes', ids],
    queryFn: ({ signal }) => call('instances.sizes', { instance_ids: ids }, signal),
    enabled: ids.length > 0,
    refetchInterval: SIZES_MS,
    staleTime: 'static',
    placeholderData: keepPreviousData,
  });
  return useMemo(() => new Map(data?.items.map((size) => [size.instance_id, size])), [data]);
}

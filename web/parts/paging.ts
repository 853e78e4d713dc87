import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ActionInput, ActionResult } from '../api.ts';
import { useLastValue } from '../live/stable-rows.ts';
import { useRead } from '../queries.ts';
import type { RowList } from './data-list.tsx';
import type { ReadResult } from './loaded.tsx';

/** The maximum number of pages that a list shows. After an event, all of them are loaded again. At the limit, the next page replaces them. */
const MAX_PAGES = 6;
/** The number of rows in the first page, which is small so that it loads fast, and in each later page. */
const PAGE_SIZES = [50, 150] as const;

interface Page {
  readonly items: readonly unknown[];
}

interface PagedReading<P extends Page, C> {
  /** The name of the action and its filter, which together identify the list. */
  readonly key: readonly unknown[];
  read(cursor: C | undefined, limit: number, signal: AbortSignal): Promise<P>;
  /** Returns the cursor of the next page, after `held` rows. Undefined if there are no more rows. */
  next(page: P, held: number): C | undefined | null;
  /** The cursor of the first page, if the page's address contains one. */
  readonly from?: C | undefined;
  /** The number of rows in the first page, and in each later page. */
  readonly sizes?: readonly [number, number];
  readonly enabled?: boolean;
  readonly pollMs?: number;
  /** If true, the rows of the previous filter stay visible until the new rows are loaded. */
  readonly keepRows?: boolean;
}

interface PagedList<P extends Page> extends RowList<P['items'][number]> {
  readonly first: P | undefined;
}

/** Reads a list one page at a time. */
export function usePages<P extends Page, C>(reading: PagedReading<P, C>): PagedList<P> {
  const { key, read, next, from, sizes = PAGE_SIZES, enabled = true, pollMs, keepRows = false } = reading;
  const identity = JSON.stringify([key, from]);
  const [moved, setMoved] = useState<{ identity: string; to: C; held: number }>();
  const start = moved?.identity === identity ? moved : undefined;
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [...key, 'pages', start?.to ?? from],
    queryFn: ({ pageParam: { cursor, limit }, signal }) => read(cursor, limit, signal),
    initialPageParam: { cursor: start?.to ?? from, limit: sizes[0] as number },
    getNextPageParam: (page: P, pages: P[]) => {
      const cursor = next(page, heldIn(pages, start?.held));
      return cursor === undefined || cursor === null ? undefined : { cursor, limit: sizes[1] };
    },
    enabled,
    refetchInterval: pollMs ?? false,
    ...(keepRows && { placeholderData: keepPreviousData }),
  });
  const pages = data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ items }): readonly P['items'][number][] => items), [pages]);
  const isFull = (pages?.length ?? 0) >= MAX_PAGES;
  const goOn = (): void => {
    const last = pages?.at(-1);
    const held = heldIn(pages ?? [], start?.held);
    const to = last && next(last, held);
    if (to !== undefined && to !== null) setMoved({ identity, to, held });
  };
  return {
    rows,
    first: pages?.[0],
    error,
    refetch,
    more: hasNextPage ? { isReading: isFetchingNextPage, read: isFull ? goOn : () => void fetchNextPage() } : undefined,
    isFull,
    goBack:
      start &&
      (() => {
        setMoved(undefined);
        scrollTo({ top: 0 });
      }),
  };
}

const heldIn = (pages: readonly Page[], before = 0): number => pages.reduce((sum, { items }) => sum + items.length, before);

/** Converts the result of a query that has no pages to the form that `DataList` needs. */
export const wholeList = <T>({ data, error, refetch }: ReadResult<{ readonly items: readonly T[] }>): RowList<T> => ({ rows: data?.items, error, refetch });

const FEW = 50;

type CountedAction = 'tokens.list' | 'devices.list';
type RowOf<N extends CountedAction> = ActionResult<N> extends { items: (infer Row)[] } ? Row : never;

/** Reads the first 50 rows of a list, and on request up to `many`. Older rows can only be opened by their ids. */
export function useFewThenMany<N extends CountedAction>(name: N, filter: ActionInput<N>, many: number): RowList<RowOf<N>> {
  const [limit, setLimit] = useState(FEW);
  const query = useRead(name, { ...filter, limit });
  const read = query.data as { items: RowOf<N>[]; total: number } | undefined;
  // Keep showing the first rows until the larger list is loaded.
  const data = useLastValue(read, read === undefined);
  const isPart = data !== undefined && data.total > data.items.length && limit === FEW;
  return {
    rows: data?.items,
    total: data?.total,
    error: query.error,
    refetch: query.refetch,
    more: isPart ? { isReading: query.isFetching, read: () => setLimit(many) } : undefined,
  };
}

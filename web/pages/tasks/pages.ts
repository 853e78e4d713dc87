import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

/** What is shown is read again with each event: so many pages, and no more. Beyond them the list begins anew. */
const MOST_PAGES = 6;
/** The first comes at once; who asks for more wants many. */
const FIRST = 50;
const FURTHER = 150;

interface Page<T> {
  readonly items: readonly T[];
  readonly more: boolean;
}

interface Reading<T, P extends Page<T>, B> {
  readonly key: readonly unknown[];
  read(before: B | undefined, limit: number, signal: AbortSignal): Promise<P>;
  cursorOf(row: T): B;
  /** Where the list begins. */
  readonly from: B | undefined;
}

export interface Pages<T, P> {
  /** Undefined until the first page has been read. */
  readonly rows: readonly T[] | undefined;
  readonly first: P | undefined;
  readonly error: Error | null;
  retry(): void;
  /** Whether the list goes on, and whether here or at an address of its own. */
  readonly goesOn: 'no' | 'here' | 'elsewhere';
  readonly reading: boolean;
  readMore(): void;
}

/** A list a page at a time, each asked for by the last row of the one before. */
export function usePages<T, P extends Page<T>, B>({ key, read, cursorOf, from }: Reading<T, P, B>): Pages<T, P> {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [...key, 'pages', from],
    queryFn: ({ pageParam: { before, limit }, signal }) => read(before, limit, signal),
    initialPageParam: { before: from, limit: FIRST },
    getNextPageParam: ({ items, more }: P) => {
      const last = items.at(-1);
      return more && last !== undefined ? { before: cursorOf(last), limit: FURTHER } : undefined;
    },
  });
  const pages = data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ items }) => items), [pages]);
  return {
    rows,
    first: pages?.[0],
    error,
    retry: () => void refetch(),
    goesOn: !hasNextPage ? 'no' : (pages?.length ?? 0) < MOST_PAGES ? 'here' : 'elsewhere',
    reading: isFetchingNextPage,
    readMore: () => void fetchNextPage(),
  };
}

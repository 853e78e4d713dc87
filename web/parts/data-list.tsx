import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { ActionInput, ActionResult } from '../api.ts';
import { useLastValue, useStableRows } from '../live/tail.ts';
import { useRead } from '../queries.ts';
import { Problem } from './layout.tsx';
import { type Column, Table, type TableProps, TableSkeleton } from './table.tsx';
import { counted } from './values.tsx';

/** A read as the page sees it: any query has this shape. */
export interface ReadResult<T> {
  readonly data?: T | undefined;
  readonly error: Error | null;
  refetch(): unknown;
}

/** What is read, in its place: its error, a skeleton until it is there, then the data. `what`: "The limits". */
export function Loaded<T>({ query: { data, error, refetch }, what, children }: { query: ReadResult<T>; what: string; children?: (data: T) => ReactNode }) {
  return (
    <>
      {error && <Problem what={`${what} could not be read.`} error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <TableSkeleton />}
      {data !== undefined && children?.(data)}
    </>
  );
}

/** The rows that have been read, and how the list goes on. */
interface RowList<T> {
  /** Undefined until the first page has been read. */
  readonly rows: readonly T[] | undefined;
  readonly error: Error | null;
  refetch(): unknown;
  /** Undefined at the end of the list. */
  readonly more?: { readonly isReading: boolean; read(): void } | undefined;
  /** How many there are in all, where only some are read: "50 of 230 tokens". */
  readonly total?: number | undefined;
  /** Every page it may hold is read: it goes on from its last row. */
  readonly isFull?: boolean;
  /** Set where the list has begun anew further on. */
  readonly goBack?: (() => void) | undefined;
}

interface ListFrameProps<T> {
  /** What the rows are: "tasks". */
  noun: string;
  /** What could not be read, where that is not "The tasks". */
  what?: string;
  list: RowList<T>;
  /** Shown where there is nothing to list. */
  empty?: ReactNode;
  /** The address at which a full list goes on. Without one it goes on in place. */
  further?: Pick<LinkProps, 'to' | 'search'>;
  /** The button that reads the next page. */
  moreLabel?: string;
}

interface DataListProps<T> extends ListFrameProps<T> {
  /** The name of the table: "Tasks, last changed first". */
  label: string;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string | number;
  /** New rows come at the top, and wait while somebody has scrolled. Lists with other filters need other keys. */
  growsAtTop?: boolean;
}

/** A table with its error, skeleton, empty state and next page. */
export function DataList<T>({ label, columns, rowKey, growsAtTop = false, ...frame }: DataListProps<T>) {
  const RowsTable = growsAtTop ? StableTable : Table;
  return <ListFrame {...frame}>{(rows) => <RowsTable label={label} columns={columns} rows={rows} rowKey={rowKey} />}</ListFrame>;
}

/** What a list has around its rows: its error, skeleton, empty state and next page. */
export function ListFrame<T>(props: ListFrameProps<T> & { children: (rows: readonly T[]) => ReactNode }) {
  const { noun, what = `The ${noun}`, list, empty, further, moreLabel, children } = props;
  const { rows, error, more, isFull, goBack, total } = list;
  const isPart = total !== undefined && rows !== undefined && total > rows.length;
  return (
    <>
      {error && <Problem what={`${what} could not be read.`} error={error} onRetry={() => void list.refetch()} />}
      {!rows && !error && <TableSkeleton />}
      {rows?.length === 0 && empty}
      {rows && rows.length > 0 && children(rows)}
      {(more || isPart || goBack) && (
        <div className="flex flex-wrap items-center justify-center gap-3 border-t border-line p-3 text-muted">
          {isPart && `${rows.length.toLocaleString()} of ${counted(total, noun.replace(/s$/, ''), noun)}`}
          {goBack && (
            <button type="button" className="button text-text" onClick={goBack}>
              Back to the first {noun}
            </button>
          )}
          {more && isFull && further ? (
            <Link {...further} className="button text-text">
              Older {noun}
            </Link>
          ) : (
            more && (
              <button type="button" className="button text-text" disabled={more.isReading} aria-busy={more.isReading || undefined} onClick={more.read}>
                {moreLabel ?? `Show more ${noun}`}
              </button>
            )
          )}
        </div>
      )}
    </>
  );
}

function StableTable<T>({ rows, rowKey, ...table }: TableProps<T>) {
  const { stable, waiting } = useStableRows(rows, rowKey);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table {...table} rows={stable} rowKey={rowKey} />
    </>
  );
}

/** What is shown is read again with each event: so many pages, and no more. Beyond them the list begins anew. */
const MAX_PAGES = 6;
/** The first comes at once; who asks for more wants many. */
const PAGE_SIZES = [50, 150] as const;

interface Page {
  readonly items: readonly unknown[];
}

interface PagedReading<P extends Page, C> {
  /** The action and its filter: what tells one list from another. */
  readonly key: readonly unknown[];
  read(cursor: C | undefined, limit: number, signal: AbortSignal): Promise<P>;
  /** Where the page after this one begins; `held` rows stand before it. Nothing at the end. */
  next(page: P, held: number): C | undefined | null;
  /** Where the list begins, if its address says so. */
  readonly from?: C | undefined;
  /** Rows of the first page, and of each further one. */
  readonly sizes?: readonly [number, number];
  readonly enabled?: boolean;
  readonly everyMs?: number;
  /** Rows of another filter stay until those of this one are here. */
  readonly keepRows?: boolean;
}

interface PagedList<P extends Page> extends RowList<P['items'][number]> {
  readonly first: P | undefined;
}

/** A list read a page at a time. */
export function usePages<P extends Page, C>(reading: PagedReading<P, C>): PagedList<P> {
  const { key, read, next, from, sizes = PAGE_SIZES, enabled = true, everyMs, keepRows = false } = reading;
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
    refetchInterval: everyMs ?? false,
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

/** A list that was read at once, as `DataList` takes it. */
export const wholeList = <T,>({ data, error, refetch }: ReadResult<{ readonly items: readonly T[] }>): RowList<T> => ({ rows: data?.items, error, refetch });

const FEW = 50;

type CountedAction = 'tokens.list' | 'devices.list';
type RowOf<N extends CountedAction> = ActionResult<N> extends { items: (infer Row)[] } ? Row : never;

/** A list of which the first few are read, and many on request: who looks further searches by an id. */
export function useFewThenMany<N extends CountedAction>(name: N, filter: ActionInput<N>, many: number): RowList<RowOf<N>> {
  const [limit, setLimit] = useState(FEW);
  const query = useRead(name, { ...filter, limit });
  const read = query.data as { items: RowOf<N>[]; total: number } | undefined;
  // The few stay until the many are there.
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

/** New rows wait for who has scrolled; at the top they come by themselves. */
function Resume({ waiting }: { waiting: number }) {
  return (
    <button
      type="button"
      data-show-new
      className="button button-primary fixed top-2 left-1/2 z-20 -translate-x-1/2 shadow"
      onClick={() => scrollTo({ top: 0 })}
    >
      Paused · {waiting} new · Resume
    </button>
  );
}

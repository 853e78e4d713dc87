import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useStableRows } from '../live/stable-rows.ts';
import { Loaded } from './loaded.tsx';
import { type Column, Table, type TableProps } from './table.tsx';
import { counted } from './values.tsx';

/** The rows that were loaded, and how to load more. */
export interface RowList<T> {
  /** Undefined until the first page is loaded. */
  readonly rows: readonly T[] | undefined;
  readonly error: Error | null;
  refetch(): unknown;
  /** Loads the next page. Undefined if there are no more rows. */
  readonly more?: { readonly isReading: boolean; read(): void } | undefined;
  /** If only a part of the rows is loaded, the number of all rows, as in "50 of 230 tokens". */
  readonly total?: number | undefined;
  /** True if the list shows the maximum number of pages, so that the next page will replace them. */
  readonly isFull?: boolean;
  /** Returns to the first row. Undefined if the list starts there. */
  readonly goBack?: (() => void) | undefined;
}

interface ListFrameProps<T> {
  /** What the rows are, in the plural, such as "tasks". */
  noun: string;
  /** The subject of the error message. By default it is made from `noun`, as in "The tasks". */
  what?: string;
  list: RowList<T>;
  /** Shown if the list has no rows. */
  empty?: ReactNode;
  /** The address of the next page of a full list. Without it, the next page opens in place. */
  further?: Pick<LinkProps, 'to' | 'search'>;
  /** The button that reads the next page. */
  moreLabel?: string;
}

interface DataListProps<T> extends ListFrameProps<T> {
  /** The name of the table for screen readers, such as "Tasks, last changed first". */
  label: string;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string | number;
  /** Set this if new rows appear at the top. They then wait while the person has scrolled down. The list needs a key that contains its filter. */
  growsAtTop?: boolean;
}

/** A table that also shows errors, a skeleton while it loads, a text if it is empty, and a button for the next page. */
export function DataList<T>({ label, columns, rowKey, growsAtTop = false, ...frame }: DataListProps<T>) {
  const RowsTable = growsAtTop ? StableTable : Table;
  return <ListFrame {...frame}>{(rows) => <RowsTable label={label} columns={columns} rows={rows} rowKey={rowKey} />}</ListFrame>;
}

/** The frame of a list. It shows errors, a skeleton while the rows load, a text if there are none, and a button for the next page. */
export function ListFrame<T>(props: ListFrameProps<T> & { children: (rows: readonly T[]) => ReactNode }) {
  const { noun, what = `The ${noun}`, list, empty, further, moreLabel, children } = props;
  const { rows, error, more, isFull, goBack, total } = list;
  const isPart = total !== undefined && rows !== undefined && total > rows.length;
  return (
    <>
      <Loaded query={{ data: rows, error, refetch: list.refetch }} what={what} />
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

/** A button that is visible while new rows wait because the person has scrolled down. It scrolls to the top, where the new rows then appear. */
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

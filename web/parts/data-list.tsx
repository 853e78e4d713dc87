import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useStableRows } from '../live/stable-rows.ts';
import { Loaded } from './loaded.tsx';
import { type Column, Table, type TableProps } from './table.tsx';
import { counted } from './values.tsx';

/** The rows that have been read, and how to read more. */
export interface RowList<T> {
  /** Undefined until the first page has been read. */
  readonly rows: readonly T[] | undefined;
  readonly error: Error | null;
  refetch(): unknown;
  /** Undefined at the end of the list. */
  readonly more?: { readonly isReading: boolean; read(): void } | undefined;
  /** The number of rows on the server, if only some are read: "50 of 230 tokens". */
  readonly total?: number | undefined;
  /** True if the list shows its maximum number of pages. The next page then replaces them. */
  readonly isFull?: boolean;
  /** Set if the list does not start at its first row. */
  readonly goBack?: (() => void) | undefined;
}

interface ListFrameProps<T> {
  /** The unit of the rows: "tasks". */
  noun: string;
  /** The subject of the error message, if it is not "The tasks". */
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
  /** The name of the table: "Tasks, last changed first". */
  label: string;
  columns: readonly Column<T>[];
  rowKey: (row: T) => string | number;
  /** New rows appear at the top; they wait while the person has scrolled down. Give the list a key that contains its filter. */
  growsAtTop?: boolean;
}

/** A table with its error, skeleton, empty state and next page. */
export function DataList<T>({ label, columns, rowKey, growsAtTop = false, ...frame }: DataListProps<T>) {
  const RowsTable = growsAtTop ? StableTable : Table;
  return <ListFrame {...frame}>{(rows) => <RowsTable label={label} columns={columns} rows={rows} rowKey={rowKey} />}</ListFrame>;
}

/** The frame around the rows of a list: error, skeleton, empty state and next page. */
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

/** Shown while new rows wait because the person has scrolled down. Scrolling to the top shows them. */
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

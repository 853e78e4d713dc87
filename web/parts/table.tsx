import { memo, type ReactNode } from 'react';

export interface Column<T> {
  readonly label: string;
  /** Classes of the column in the table: its width. */
  readonly wide?: string;
  /** Classes of the cell in a card: its place. */
  readonly card?: string;
  cell(row: T): ReactNode;
}

/** The first line of a card: what the row is, and at its end how it stands. */
export const CARD_TITLE = 'max-sm:w-[calc(100%-6.75rem)] max-sm:font-medium';
export const CARD_STATE = 'max-sm:w-24 max-sm:self-start max-sm:text-right';

interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey(row: T): string | number;
}

/** A table; below 640 px each row is a card. The roles stand in words because a changed `display` would take them away. */
export function Table<T>({ label, columns, rows, rowKey }: TableProps<T>) {
  return (
    <table role="table" aria-label={label} className="w-full max-sm:block sm:table-fixed">
      <thead role="rowgroup" className="max-sm:sr-only">
        <tr role="row">
          {columns.map((column) => (
            <th
              key={column.label}
              role="columnheader"
              scope="col"
              className={`border-b border-line px-2 py-1.5 text-left text-label font-medium text-muted ${column.wide ?? ''}`}
            >
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" className="max-sm:block">
        {rows.map((row) => (
          <MemoRow key={rowKey(row)} row={row} columns={columns as readonly Column<unknown>[]} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, columns }: { row: unknown; columns: readonly Column<unknown>[] }) {
  return (
    <tr
      role="row"
      className="border-b border-line last:border-b-0 hover:bg-surface has-[[aria-current]]:bg-live-tint max-sm:flex max-sm:flex-wrap max-sm:items-center max-sm:gap-x-3 max-sm:gap-y-1 max-sm:px-3 max-sm:py-2.5 sm:h-8"
    >
      {columns.map((column) => (
        <td key={column.label} role="cell" className={`sm:px-2 sm:py-1 ${column.card ?? ''}`}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

const MemoRow = memo(Row);

/** In the place of a table that is being read. */
export function TableSkeleton() {
  return (
    <div role="status" aria-label="Loading" className="grid gap-2 p-3">
      {[1, 2, 3, 4].map((line) => (
        <div key={line} className="skeleton h-5" />
      ))}
    </div>
  );
}

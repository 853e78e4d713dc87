import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useLayoutEffect, useRef, useState } from 'react';

/**
 * On screens narrower than 640 px each row becomes a card. This is the place of a cell in the card. The first line contains the title and the state. The
 * other cells follow in the order of the columns: `meta` is muted, `wide` takes a whole line, `end` is at the end of its line, and `none` is left out.
 */
type Role = 'title' | 'state' | 'text' | 'meta' | 'wide' | 'end' | 'none';

const CARDS: Record<Role, string> = {
  title: 'max-sm:order-1 max-sm:w-[calc(100%-8.25rem)] max-sm:font-medium',
  state: 'max-sm:order-2 max-sm:w-30 max-sm:self-start max-sm:text-right',
  text: 'max-sm:order-3',
  meta: 'text-muted max-sm:order-3',
  wide: 'max-sm:order-3 max-sm:w-full',
  end: 'text-muted max-sm:order-3 max-sm:ml-auto',
  none: 'max-sm:hidden',
};

/** Stands for a missing value. A table shows a dash, and a card leaves out the cell. */
export function None({ children = '—' }: { children?: ReactNode }) {
  return <span data-none>{children}</span>;
}

/** Classes that hide a column on screens below a width. Cards still show it. */
const HIDDEN_BELOW = { lg: 'sm:max-lg:hidden', xl: 'sm:max-xl:hidden', '2xl': 'sm:max-[87rem]:hidden' };

const PREFIXED = 'max-sm:flex max-sm:gap-1 max-sm:before:text-muted max-sm:before:content-[attr(data-prefix)]';

export interface Column<T> {
  readonly label: string;
  readonly role?: Role;
  /** CSS classes for the width. Without them, the column gets a share of the remaining width, except for states, which have a default width. */
  readonly width?: string;
  /** The column is shown only on screens of at least this width. */
  readonly from?: keyof typeof HIDDEN_BELOW;
  /** A text before the value in a card, because a card has no column headings. Example: "last used:". */
  readonly prefix?: string;
  cell(row: T): ReactNode;
}

const STATE_WIDTH = 'sm:w-28 lg:w-34';

const headClasses = ({ role, width, from }: Column<unknown>): string =>
  [width ?? (role === 'state' ? STATE_WIDTH : ''), from && HIDDEN_BELOW[from]].filter(Boolean).join(' ');

const cellClasses = ({ role = 'text', from, prefix }: Column<unknown>): string =>
  [CARDS[role], from && HIDDEN_BELOW[from], prefix && PREFIXED].filter(Boolean).join(' ');

export interface TableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  /** Returns the key of a row. If it is an id, the shortcut y copies it. */
  rowKey(row: T): string | number;
  /** If true, all rows are rendered. Set it for a table in its own scroll box, because otherwise only the rows near the window are rendered. */
  whole?: boolean;
}

/** If a table has more rows than this, only the rows near the window are rendered. */
const ALL_SHOWN = 60;
const ROW_PX = 33;
const BEYOND = 6;

/**
 * A table. On screens narrower than 640 px each row is a card. The elements have explicit roles, because changing the `display` of a table removes the
 * implicit ones.
 */
export function Table<T>({ label, columns, rows, rowKey, whole = false }: TableProps<T>) {
  const many = !whole && rows.length > ALL_SHOWN;
  const body = { columns: columns as readonly Column<unknown>[], rows, rowKey: rowKey as (row: unknown) => string | number };
  return (
    <table role="table" aria-label={label} aria-rowcount={many ? rows.length + 1 : undefined} className="w-full max-sm:block sm:table-fixed">
      <thead role="rowgroup" className="max-sm:sr-only">
        <tr role="row">
          {columns.map((column) => (
            <th
              key={column.label}
              role="columnheader"
              scope="col"
              className={`border-b border-line px-2 py-1.5 text-left text-label font-medium text-muted ${headClasses(column as Column<unknown>)}`}
            >
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      {many ? <NearRows {...body} /> : <AllRows {...body} />}
    </table>
  );
}

interface BodyProps {
  columns: readonly Column<unknown>[];
  rows: readonly unknown[];
  rowKey(row: unknown): string | number;
}

function AllRows({ columns, rows, rowKey }: BodyProps) {
  return (
    <tbody role="rowgroup" className="max-sm:block">
      {rows.map((row) => (
        <MemoRow key={rowKey(row)} id={rowKey(row)} row={row} columns={columns} />
      ))}
    </tbody>
  );
}

/** Renders only the rows near the window, with empty space in place of the rows above and below. */
function NearRows({ columns, rows, rowKey }: BodyProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  // This effect runs after every render, because the content above the table may have a different height.
  useLayoutEffect(() => {
    const place = body.current?.getBoundingClientRect().top;
    if (place !== undefined) setTop(Math.round(place + scrollY));
  });
  const near = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: BEYOND,
    scrollMargin: top,
    getItemKey: (index) => rowKey(rows[index]),
  });
  const items = near.getVirtualItems();
  const above = (items[0]?.start ?? top) - top;
  const below = near.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  return (
    <tbody role="rowgroup" ref={body} className="max-sm:block">
      <Space height={above} />
      {items.map(({ index, key }) => (
        <MemoRow key={key} id={key as string | number} row={rows[index]} columns={columns} index={index} measure={near.measureElement} />
      ))}
      <Space height={below} />
    </tbody>
  );
}

function Space({ height }: { height: number }) {
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row cannot get the focus
  return height > 0 ? <tr aria-hidden="true" className="max-sm:block" style={{ height }} /> : null;
}

interface RowProps {
  id: string | number;
  row: unknown;
  columns: readonly Column<unknown>[];
  index?: number;
  measure?: (element: HTMLElement | null) => void;
}

function Row({ id, row, columns, index, measure }: RowProps) {
  return (
    <tr
      ref={measure}
      role="row"
      data-row
      data-id={id}
      data-index={index}
      aria-rowindex={index === undefined ? undefined : index + 2}
      className="border-b border-line last:border-b-0 hover:bg-surface has-[[aria-current]]:bg-live-tint max-sm:flex max-sm:flex-wrap max-sm:items-center max-sm:gap-x-3 max-sm:gap-y-1 max-sm:px-3 max-sm:py-2.5 sm:h-8"
    >
      {columns.map((column) => (
        <td key={column.label} role="cell" data-prefix={column.prefix} className={`max-sm:has-[[data-none]]:hidden sm:px-2 sm:py-1 ${cellClasses(column)}`}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

const MemoRow = memo(Row);

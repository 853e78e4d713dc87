import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, type ReactNode, useLayoutEffect, useRef, useState } from 'react';

/**
 * The place of a cell in a card, below 640 px. The first line has the title and the state. Other cells follow in column order: `meta` is
 * muted, `wide` takes a whole line, `end` is aligned to the end of its line, `none` is left out.
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

/** No value: a dash in a table; cards omit the cell. */
export function None({ children = '—' }: { children?: ReactNode }) {
  return <span data-none>{children}</span>;
}

/** Hides a column below this width. Cards still show it. */
const HIDDEN_BELOW = { lg: 'sm:max-lg:hidden', xl: 'sm:max-xl:hidden', '2xl': 'sm:max-[87rem]:hidden' };

const PREFIXED = 'max-sm:flex max-sm:gap-1 max-sm:before:text-muted max-sm:before:content-[attr(data-prefix)]';

export interface Column<T> {
  readonly label: string;
  readonly role?: Role;
  /** Width classes. Without them the column shares the remaining width; states have a default width. */
  readonly width?: string;
  /** The minimum screen width at which the table shows the column. */
  readonly from?: keyof typeof HIDDEN_BELOW;
  /** Shown before the value in a card, which has no headings: "last used:". */
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
  /** If the key is an id, the shortcut y copies it. */
  rowKey(row: T): string | number;
  /** Renders every row. Needed for a table in its own scroll box, because the window does not scroll it. */
  whole?: boolean;
}

/** With more rows, only those near the window are rendered. */
const ALL_SHOWN = 60;
const ROW_PX = 33;
const BEYOND = 6;

/** A table; below 640 px each row is a card. The roles are explicit because a changed `display` removes the implicit ones. */
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

/** Only the rows near the window, with empty space for the others above and below. */
function NearRows({ columns, rows, rowKey }: BodyProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  // Runs after every render, because the content above may have changed its height.
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
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row cannot take the focus
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

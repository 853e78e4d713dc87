import type { ReactNode } from 'react';
import { Scrolled } from './layout.tsx';

interface TwinTableProps {
  /** The title, such as "Phases". */
  title: string;
  /** The name for screen readers, if the title is not enough. */
  label?: string;
  heads: readonly ReactNode[];
  rows: readonly { readonly key: string | number; readonly cells: readonly ReactNode[] }[];
  /** Shown if there are no rows. */
  empty?: string;
}

/** Shows the data of a chart as a table, for people who cannot see the chart. The table is folded at first. */
export function TwinTable({ title, label = title, heads, rows, empty }: TwinTableProps) {
  return (
    <details className="text-label">
      <summary className="cursor-pointer text-muted">{title} as a table</summary>
      <Scrolled label={label} className="max-h-64">
        <table className="mt-1" aria-label={label}>
          <thead>
            <tr className="text-left text-muted">
              {heads.map((head, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the columns never move
                <th key={index} scope="col" className="pr-4 font-medium">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, cells }) => (
              <tr key={key}>
                {cells.map((cell, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the columns never move
                  <td key={index} className="pr-4">
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && empty && <p className="text-muted">{empty}</p>}
      </Scrolled>
    </details>
  );
}

import type { CheckpointRow } from '../workflows/index.ts';

/** More than this no client takes in one answer; details of 64 KiB add up to it soon. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
const PAGE = 200;

const sizeOf = ({ summary, detail, files_changed }: CheckpointRow): number => summary.length + (detail ?? '').length + files_changed.length;

/** Page by page, up to so many and to what an answer can hold, but at least one. `more`: that was not all there are. */
export async function readWithin(
  count: number,
  page: (limit: number, last: CheckpointRow | undefined) => Promise<CheckpointRow[]>,
): Promise<{ rows: CheckpointRow[]; more: boolean }> {
  const rows: CheckpointRow[] = [];
  let characters = 0;
  for (;;) {
    const wanted = Math.min(PAGE, count + 1 - rows.length);
    const next = await page(wanted, rows.at(-1));
    for (const row of next) {
      characters += sizeOf(row);
      if (rows.length === count || (rows.length > 0 && characters > MOST_CHARACTERS)) return { rows, more: true };
      rows.push(row);
    }
    if (next.length < wanted) return { rows, more: false };
  }
}

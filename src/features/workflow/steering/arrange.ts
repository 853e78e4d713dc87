import type { TaskEdge } from './layers.ts';

const SWEEPS = 4;

/** The place of each within its layer, so that few edges cross: by turns near what it waits for and what waits for it. */
export function rowsOf(layers: Int32Array, edges: readonly TaskEdge[]): Int32Array {
  const columns: number[][] = [];
  for (const [place, layer] of layers.entries()) (columns[layer] ??= []).push(place);
  const before: number[][] = Array.from(layers, () => []);
  const after: number[][] = Array.from(layers, () => []);
  for (const [first, then] of edges) {
    (before[then] as number[]).push(first);
    (after[first] as number[]).push(then);
  }
  const rows = new Int32Array(layers.length);
  const seat = (column: number[]): void => {
    for (const [row, place] of column.entries()) rows[place] = row;
  };
  for (const column of columns) seat(column);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forth = sweep % 2 === 0;
    for (const column of forth ? columns : columns.toReversed()) {
      const middles = new Map(column.map((place) => [place, middleOf((forth ? before : after)[place] as number[], rows) ?? (rows[place] as number)]));
      column.sort((one, other) => (middles.get(one) as number) - (middles.get(other) as number) || one - other);
      seat(column);
    }
  }
  return rows;
}

function middleOf(places: readonly number[], rows: Int32Array): number | undefined {
  if (places.length === 0) return undefined;
  return places.reduce((sum, place) => sum + (rows[place] as number), 0) / places.length;
}

/** Without the edges that others imply: who waits for a task waits for what that waits for. `layers` must rise along every edge. */
export function withoutImplied(layers: Int32Array, edges: readonly TaskEdge[]): TaskEdge[] {
  const words = Math.ceil(layers.length / 32);
  const reached = Array.from(layers, () => new Uint32Array(words));
  const before: number[][] = Array.from(layers, () => []);
  for (const [first, then] of edges) (before[then] as number[]).push(first);
  const kept: TaskEdge[] = [];
  for (const place of [...layers.keys()].sort((one, other) => (layers[one] as number) - (layers[other] as number))) {
    const own = reached[place] as Uint32Array;
    // The highest first: what a lower one would add is then known already.
    for (const first of (before[place] as number[]).sort((one, other) => (layers[other] as number) - (layers[one] as number))) {
      if (((own[first >> 5] as number) >>> (first & 31)) & 1) continue;
      kept.push([first, place]);
      const theirs = reached[first] as Uint32Array;
      for (let word = 0; word < words; word++) own[word] = (own[word] as number) | (theirs[word] as number);
      own[first >> 5] = (own[first >> 5] as number) | (1 << (first & 31));
    }
  }
  return kept;
}

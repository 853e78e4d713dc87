/**
 * An edge of the task graph. Task `then` depends on task `first`; both are indexes in a list of tasks. The functions in this file use no recursion,
 * because a chain may be 10,000 tasks long.
 */
export type TaskEdge = readonly [first: number, then: number];

/**
 * Returns the layer of each task. A task without dependencies is in layer 0. Any other task is one layer above the highest of its dependencies. The
 * graph must be acyclic. Takes linear time.
 */
export function layersOf(count: number, edges: readonly TaskEdge[]): Int32Array {
  const layers = new Int32Array(count);
  for (const at of inOrder(count, edges)) {
    for (const next of at.after) layers[next] = Math.max(layers[next] as number, (layers[at.place] as number) + 1);
  }
  return layers;
}

/**
 * Returns the longest chain of dependent tasks, from first to last. Only tasks for which `counts` returns true are counted and returned, but other
 * tasks may lie between them. Takes linear time.
 */
export function longestChain(count: number, edges: readonly TaskEdge[], counts: (place: number) => boolean): number[] {
  const length = new Int32Array(count);
  const before = new Int32Array(count).fill(-1);
  let last = -1;
  for (const { place, after } of inOrder(count, edges)) {
    const own = (length[place] as number) + (counts(place) ? 1 : 0);
    length[place] = own;
    if (own > (last < 0 ? 0 : (length[last] as number))) last = place;
    for (const next of after) {
      if (own <= (length[next] as number)) continue;
      length[next] = own;
      before[next] = place;
    }
  }
  const chain: number[] = [];
  for (let at = last; at >= 0; at = before[at] as number) if (counts(at)) chain.push(at);
  return chain.reverse();
}

/** Yields tasks in dependency order, each with the tasks that depend on it. */
function* inOrder(count: number, edges: readonly TaskEdge[]): Generator<{ place: number; after: readonly number[] }> {
  const after: number[][] = Array.from({ length: count }, () => []);
  const open = new Int32Array(count);
  for (const [first, next] of edges) {
    (after[first] as number[]).push(next);
    open[next] = (open[next] as number) + 1;
  }
  const ready: number[] = [];
  for (let place = 0; place < count; place++) if (open[place] === 0) ready.push(place);
  for (let at = 0; at < ready.length; at++) {
    const place = ready[at] as number;
    const next = after[place] as number[];
    yield { place, after: next };
    for (const each of next) {
      open[each] = (open[each] as number) - 1;
      if (open[each] === 0) ready.push(each);
    }
  }
}

const SWEEPS = 4;

/**
 * Returns the position of each task within its layer. Tasks are moved alternately towards their dependencies and towards their dependents, so that few
 * edges cross.
 */
export function rowsWithinLayers(layers: Int32Array, edges: readonly TaskEdge[]): Int32Array {
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

/**
 * Leaves out edges that follow from other edges. For example, if c depends on b and b depends on a, the edge from a to c is left out. Every edge must
 * lead to a higher layer in `layers`.
 */
export function withoutImplied(layers: Int32Array, edges: readonly TaskEdge[]): TaskEdge[] {
  const words = Math.ceil(layers.length / 32);
  const reached = Array.from(layers, () => new Uint32Array(words));
  const before: number[][] = Array.from(layers, () => []);
  for (const [first, then] of edges) (before[then] as number[]).push(first);
  const kept: TaskEdge[] = [];
  for (const place of [...layers.keys()].sort((one, other) => (layers[one] as number) - (layers[other] as number))) {
    const own = reached[place] as Uint32Array;
    // Dependencies in higher layers are handled first, because a dependency in a higher layer can make a dependency in a lower layer redundant.
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

/**
 * Returns the longest chain of unmet dependencies, beginning with a direct dependency of the task. `dependencies` contains only unmet dependencies and
 * must be acyclic.
 */
export function unmetChain(taskId: string, dependencies: ReadonlyMap<string, readonly string[]>): string[] {
  const ids = [taskId];
  const places = new Map([[taskId, 0]]);
  const edges: TaskEdge[] = [];
  for (let at = 0; at < ids.length; at++) {
    for (const dependency of dependencies.get(ids[at] as string) ?? []) {
      if (!places.has(dependency)) {
        places.set(dependency, ids.length);
        ids.push(dependency);
      }
      edges.push([places.get(dependency) as number, at]);
    }
  }
  const layers = layersOf(ids.length, edges);
  const layer = (id: string): number => layers[places.get(id) as number] as number;
  const chain: string[] = [];
  for (let here = taskId; ; ) {
    const next = (dependencies.get(here) ?? []).find((dependency) => layer(dependency) === layer(here) - 1);
    if (next === undefined) return chain;
    chain.push(next);
    here = next;
  }
}

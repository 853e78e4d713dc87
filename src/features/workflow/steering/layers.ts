/** What waits for what, by places in a list: `[first, then]`. Pure, linear, and without recursion: a chain may be 10,000 tasks long. */
export type TaskEdge = readonly [first: number, then: number];

/** The layer of each: 0 where it waits for nothing, else one more than the highest that it waits for. There must be no circle. */
export function layersOf(count: number, edges: readonly TaskEdge[]): Int32Array {
  const layers = new Int32Array(count);
  for (const at of inOrder(count, edges)) {
    for (const next of at.after) layers[next] = Math.max(layers[next] as number, (layers[at.place] as number) + 1);
  }
  return layers;
}

/**
 * The longest chain, from its first to its last. Only those count that `counts` says; others may stand between them, and are
 * left out.
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

/** Each after all that it waits for, with those that wait for it. */
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

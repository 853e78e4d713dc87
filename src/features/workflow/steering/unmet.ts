import { layersOf, type TaskEdge } from './layers.ts';

/**
 * From what the task waits for to what holds it up in the end: the longest way along dependencies that are not met. `dependencies`
 * has only unmet ones, and must have no circle.
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

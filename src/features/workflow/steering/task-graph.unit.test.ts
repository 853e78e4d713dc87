import { expect, test } from 'vitest';
import { layersOf, longestChain, rowsWithinLayers, type TaskEdge, withoutImplied } from './task-graph.ts';

test('a task is one layer after the last of its dependencies', () => {
  const edges: TaskEdge[] = [
    [0, 1],
    [1, 2],
    [0, 2],
    [3, 2],
  ];
  expect([...layersOf(4, edges)]).toEqual([0, 1, 2, 0]);
});

test('the critical path is the longest chain of remaining tasks; finished tasks do not count', () => {
  const edges: TaskEdge[] = [
    [0, 1],
    [1, 2],
    [3, 4],
  ];
  expect(longestChain(5, edges, () => true)).toEqual([0, 1, 2]);
  expect(longestChain(5, edges, (place) => place > 1)).toEqual([3, 4]);
  expect(longestChain(5, edges, () => false)).toEqual([]);
});

test('each task is placed near its dependencies within its layer, so that edges do not cross', () => {
  const rows = rowsWithinLayers(Int32Array.from([0, 0, 1, 1]), [
    [0, 3],
    [1, 2],
  ]);
  expect([rows[2], rows[3]]).toEqual([rows[1], rows[0]]);
});

test('edges that other edges imply are left out, and no other edges are', () => {
  const edges: TaskEdge[] = [
    [0, 1],
    [1, 2],
    [0, 2],
    [0, 3],
  ];
  expect(withoutImplied(layersOf(4, edges), edges).sort()).toEqual([
    [0, 1],
    [0, 3],
    [1, 2],
  ]);
});

import { expect, test } from 'vitest';
import { firstView, NODE, placedNodes } from '../web/pages/workflows/graph-layout.ts';

const node = (id: string, layer: number, row: number, status = 'pending') => ({
  id,
  name: id,
  layer,
  row,
  critical: false,
  key: null,
  group: null,
  task: { status: status as 'pending', sequence: 1, agent_name: null, asks: false },
  counts: null,
});

test('places layers from left to right, splits tall layers into columns, and overlaps no nodes', () => {
  const placed = placedNodes([...Array.from({ length: 45 }, (_, row) => node(`a${row}`, 0, row)), node('b', 1, 0)]);
  expect(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size).toBe(46);
  const last = placed.find(({ node: { id } }) => id === 'b');
  expect(placed.every(({ x, node: { id } }) => id === 'b' || x + NODE.width < (last?.x ?? 0))).toBe(true);
});

test('shows the whole graph if it is small, otherwise the failed or running task', () => {
  const size = { width: 1_000, height: 600 };
  expect(firstView(placedNodes([node('a', 0, 0), node('b', 1, 0)]), size)).toMatchObject({ zoom: 1 });
  const long = placedNodes(Array.from({ length: 100 }, (_, at) => node(`t${at}`, at, 0, at === 60 ? 'failed' : 'pending')));
  const { x, zoom } = firstView(long, size);
  const failed = (long[60]?.x ?? 0) * zoom + x;
  expect(zoom).toBe(0.6);
  expect(failed).toBeGreaterThan(0);
  expect(failed).toBeLessThan(size.width);
});

import { expect, test } from 'vitest';
import type { StoredTaskStatus } from '../workflows/index.ts';
import { fold, MAX_DRAWN, SHOWN_WHOLE } from './fold.ts';
import { graphOf } from './graph.ts';

const task = (at: number, group: string | null, status: StoredTaskStatus = 'pending') => ({
  id: `tk_${at}`,
  name: `Task ${at}`,
  status,
  open_dependencies: 0,
  sequence: at,
  parallel_group: group,
  assigned_agent_id: null,
  question_id: null,
});
const draw = (tasks: ReturnType<typeof task>[], edges: { task_id: string; depends_on: string }[] = [], turned: string[] = []) =>
  graphOf({ tasks, edges, names: new Map(), turned: new Set(turned) });

test('a small workflow is drawn task by task; a large workflow is folded into groups, and only groups with a failed task are unfolded', () => {
  const small = draw(Array.from({ length: SHOWN_WHOLE }, (_, at) => task(at, 'g')));
  expect(small).toMatchObject({ folded: false, tasks: SHOWN_WHOLE });
  expect(small.nodes).toHaveLength(SHOWN_WHOLE);

  const tasks = Array.from({ length: 400 }, (_, at) => task(at, `group ${Math.floor(at / 40)}`, at === 5 ? 'failed' : at < 50 ? 'completed' : 'pending'));
  const { nodes, folded } = draw(tasks);
  expect(folded).toBe(true);
  expect(nodes.filter((node) => node.task)).toHaveLength(40);
  expect(nodes.find(({ name }) => name === 'group 1')?.counts).toEqual({ total: 40, done: 10, running: 0, failed: 0, waiting: 0 });

  // After toggling, the failed group is folded and another group is open.
  const keys = [nodes[0]?.key, nodes.find(({ name }) => name === 'group 2')?.key] as string[];
  const other = draw(tasks, [], keys).nodes;
  expect(other.find(({ name }) => name === 'group 0')?.counts).toMatchObject({ total: 40, failed: 1 });
  expect(other.filter((node) => node.task).map(({ group }) => group)).toEqual(Array(40).fill('group 2'));
});

test('no graph exceeds the drawing limit, and every graph contains each task once', () => {
  const plans = {
    chain: Array.from({ length: 5_000 }, (_, at) => task(at, null)),
    pairs: Array.from({ length: 5_000 }, (_, at) => task(at, `g${at >> 1}`, at % 3 === 0 ? 'failed' : 'pending')),
    one: Array.from({ length: 5_000 }, (_, at) => task(at, 'all', at % 2 === 0 ? 'failed' : 'in_progress')),
  };
  for (const [name, tasks] of Object.entries(plans)) {
    const drawn = fold(
      tasks.map(({ id, sequence, parallel_group, status }) => ({ id, sequence, group: parallel_group, status: status as 'pending' })),
      new Int32Array(tasks.length),
    );
    expect(drawn.length, name).toBeLessThanOrEqual(MAX_DRAWN);
    expect(new Set(drawn.flatMap(({ members }) => members)).size, name).toBe(5_000);
  }
});

test('groups that wait for each other are laid out too, even with 5,000 tasks', () => {
  const tasks = Array.from({ length: 5_000 }, (_, at) => task(at, `group ${at % 180}`));
  const edges = tasks.flatMap(({ id }, at) => [1, 7].flatMap((back) => (at >= back ? [{ task_id: id, depends_on: `tk_${at - back}` }] : [])));
  const { nodes, edges: drawn, critical_length } = draw(tasks, edges);
  expect(nodes).toHaveLength(180);
  expect(drawn.length).toBeGreaterThan(180);
  expect(critical_length).toBe(5_000);
});

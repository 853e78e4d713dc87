import fc from 'fast-check';
import { expect, test } from 'vitest';
import { patience, runs } from '../../../testing/runs.ts';
import { type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';
import { inRun } from '../../../testing/scope.ts';
import { TASK_STATUSES } from './lifecycle.ts';

interface ModelTask {
  id: string;
  sequence: number;
  group: string | null;
  status: 'pending' | 'completed' | 'failed' | 'skipped';
  waitsFor: Set<string>;
}
/** Returns the whole graph with tasks by name. It is computed again for every comparison. */
type Model = Map<string, ModelTask>;

type Step =
  | { do: 'add'; after: number | null; dependsOn: number[]; blocks: number[]; group: string | null }
  | { do: 'remove' | 'complete' | 'fail' | 'skip'; which: number };

const which = fc.nat(30);
const group = fc.constantFrom('g', 'h', null);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('add'),
      after: fc.option(which),
      dependsOn: fc.array(which, { maxLength: 2 }),
      blocks: fc.array(which, { maxLength: 2 }),
      group,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove'), which }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('complete'), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('fail', 'skip'), which }) },
) as fc.Arbitrary<Step>;
const planned = fc.array(fc.record({ sequence: fc.integer({ min: 1, max: 4 }), group, dependsOn: fc.array(which, { maxLength: 3 }) }), {
  minLength: 1,
  maxLength: 7,
});

const isOver = (task: ModelTask | undefined) => task?.status === 'completed' || task?.status === 'skipped';
const openOf = (model: Model, task: ModelTask) => [...task.waitsFor].filter((name) => !isOver(model.get(name)));
const inOrder = (model: Model, names: Iterable<string>) =>
  [...names].sort((a, b) => (model.get(a)?.sequence ?? 0) - (model.get(b)?.sequence ?? 0) || (a < b ? -1 : 1));

function leadsTo(model: Model, from: string, to: ReadonlySet<string>): boolean {
  return to.has(from) || [...(model.get(from)?.waitsFor ?? [])].some((next) => leadsTo(model, next, to));
}

/** Returns the model in the form in which the tools should show it. */
function expected(model: Model) {
  const all = inOrder(model, model.keys()).map((name) => ({ name, ...(model.get(name) as ModelTask) }));
  const shown = (task: ModelTask) => (task.status === 'pending' && openOf(model, task).length > 0 ? 'blocked' : task.status);
  const open = all.filter((task) => !isOver(task));
  const done = open[0] ? all.filter(({ sequence }) => sequence < (open[0]?.sequence as number)) : all;
  const groups = Map.groupBy(
    all.filter((task) => task.group !== null),
    (task) => task.group as string,
  );
  return {
    next: all
      .filter((task) => ['pending', 'failed'].includes(shown(task)))
      .map(({ name, id, group: own, waitsFor }) => ({
        name,
        beside: (own === null ? [] : (groups.get(own) ?? [])).map((other) => other.id).filter((other) => other !== id),
        dependencies_completed: inOrder(model, waitsFor),
      })),
    by_status: Object.fromEntries(TASK_STATUSES.map((status) => [status, all.filter((task) => shown(task) === status).length])),
    completed_sequence: done.at(-1)?.sequence ?? 0,
    current_sequence: open[0]?.sequence ?? done.at(-1)?.sequence ?? 0,
    blocked: all.filter((task) => shown(task) === 'blocked').map((task) => ({ id: task.id, name: task.name, blocked_by: inOrder(model, openOf(model, task)) })),
    groups: [...groups]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([group_id, tasks]) => ({ group_id, task_count: tasks.length, completed: tasks.filter(isOver).length })),
    remaining: open.length,
    all_complete: all.length > 0 && open.length === 0,
  };
}

async function actual({ ok }: WorkflowApp, workflow_id: string) {
  const next = await ok('workflow_next_tasks', { workflow_id });
  const progress = await ok('workflow_progress', { workflow_id });
  expect(next.available).toBe(next.tasks.length);
  expect(next.all_complete).toBe(progress.all_complete);
  return {
    next: next.tasks.map((task: { name: string; parallel_with?: string[]; dependencies_completed: string[] }) => ({
      name: task.name,
      beside: task.parallel_with ?? [],
      dependencies_completed: task.dependencies_completed,
    })),
    by_status: progress.by_status,
    completed_sequence: progress.completed_sequence,
    current_sequence: progress.current_sequence,
    blocked: progress.blocked_tasks,
    groups: progress.parallel_groups,
    remaining: progress.estimated_remaining,
    all_complete: progress.all_complete,
  };
}

const sorted = (state: Awaited<ReturnType<typeof actual>> | ReturnType<typeof expected>) => ({
  ...state,
  next: state.next.map((task: { beside: string[] }) => ({ ...task, beside: [...task.beside].sort() })),
});

test(
  'after any sequence of changes, next tasks and progress match the current graph',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        planned,
        fc.array(step, { minLength: 4, maxLength: 16 }),
        inRun(async (plan, steps) => {
          const app = await workflowApp();
          const tasks = plan.map(({ sequence, group: own, dependsOn }, index) => ({
            name: `p${index}`,
            sequence,
            ...(own === null ? {} : { parallel_group: own }),
            depends_on: index === 0 ? [] : dependsOn.map((one) => `p${one % index}`),
          }));
          const { workflow_id, ids } = await app.planned(tasks);
          const agent = await app.agent();
          const model: Model = new Map(
            tasks.map(({ name, sequence, parallel_group, depends_on }) => [
              name,
              { id: ids[name] as string, sequence, group: parallel_group ?? null, status: 'pending' as const, waitsFor: new Set(depends_on) },
            ]),
          );
          expect(sorted(await actual(app, workflow_id))).toEqual(sorted(expected(model)));
          for (const [number, one] of steps.entries()) {
            await take(app, model, workflow_id, agent, one, number);
            expect(sorted(await actual(app, workflow_id))).toEqual(sorted(expected(model)));
          }
        }),
      ),
      runs(12),
    );
  },
  patience(120_000),
);

async function take(app: WorkflowApp, model: Model, workflow_id: string, agent: string, one: Step, number: number): Promise<void> {
  const names = [...model.keys()];
  const pick = (index: number) => names[index % names.length] as string;
  if (one.do === 'add') return await add(app, model, workflow_id, one, `n${number}`, pick);
  if (names.length === 0) return;
  const name = pick(one.which);
  const task = model.get(name) as ModelTask;
  if (one.do === 'remove') {
    if (isOver(task)) {
      expect(await app.refused('workflow_remove_task', { workflow_id, task_id: task.id })).toMatchObject({ code: 'TASK_NOT_REMOVABLE' });
      return;
    }
    const dependents = [...model.values()].filter(({ waitsFor }) => waitsFor.delete(name));
    expect(await app.ok('workflow_remove_task', { workflow_id, task_id: task.id })).toEqual({ success: true, rewired: dependents.length });
    for (const { waitsFor } of dependents) for (const before of task.waitsFor) waitsFor.add(before);
    model.delete(name);
    return;
  }
  if (task.status === 'pending' && openOf(model, task).length === 0) {
    await app.started(task.id, app.ana, agent);
    const end = one.do === 'complete' ? { status: 'completed', outcome: 'done' } : { status: 'failed', error: 'broken' };
    await app.ok('task_update_status', { id: task.id, ...end, agent_id: agent });
    task.status = one.do === 'complete' ? 'completed' : 'failed';
  }
  if (one.do !== 'skip' || task.status !== 'failed') return;
  await app.ok('task_update_status', { id: task.id, status: 'skipped' });
  task.status = 'skipped';
}

async function add(
  app: WorkflowApp,
  model: Model,
  workflow_id: string,
  { after, dependsOn, blocks, group: own }: Step & { do: 'add' },
  name: string,
  pick: (index: number) => string,
): Promise<void> {
  const any = model.size > 0;
  const first = any && after !== null ? pick(after) : undefined;
  const waitsFor = new Set([...(first === undefined ? [] : [first]), ...(any ? dependsOn.map(pick) : [])]);
  const blocked = new Set(any ? blocks.map(pick) : []);
  const args = {
    workflow_id,
    name,
    description: '',
    ...(first === undefined ? {} : { after: first }),
    depends_on: any ? dependsOn.map(pick) : [],
    blocks: [...blocked],
    ...(own === null ? {} : { parallel_group: own }),
  };
  const begun = [...blocked].some((other) => model.get(other)?.status !== 'pending');
  const circle = [...waitsFor].some((other) => leadsTo(model, other, blocked));
  if (begun || circle) {
    expect(await app.refused('workflow_add_task', args)).toMatchObject({ code: begun ? 'INVALID_STATE' : 'DEPENDENCY_CYCLE' });
    return;
  }
  const last = Math.max(0, ...[...model.values()].map((task) => task.sequence));
  const sequence = (first === undefined ? last : (model.get(first)?.sequence as number)) + 1;
  const added = await app.ok('workflow_add_task', args);
  const task: ModelTask = { id: added.task_id, sequence, group: own, status: 'pending', waitsFor };
  expect(added).toMatchObject({ sequence, status: openOf(model, task).length > 0 ? 'blocked' : 'pending' });
  for (const other of blocked) model.get(other)?.waitsFor.add(name);
  model.set(name, task);
}

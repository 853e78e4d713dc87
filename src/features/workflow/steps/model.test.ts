import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { patience, runs } from '../../../testing/runs.ts';
import { type Body, type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';
import { inRun } from '../../../testing/scope.ts';
import { isSilent } from '../agents/index.ts';
import { isSatisfied, shownStatus, TASK_MACHINE, TASK_STATUSES, type TaskStatus, type WorkflowTaskRow } from '../workflows/index.ts';

type Step =
  | { do: 'claim' | 'release' | 'replan'; agent: number; task: number }
  | { do: 'update'; agent: number; task: number; to: TaskStatus; named: boolean; fence: 'none' | 'current' | 'old' }
  | { do: 'advance'; task: number; choices: number[] }
  | { do: 'beat' | 'unregister' | 'register'; agent: number }
  | { do: 'wait'; ms: number }
  | { do: 'add'; deps: number[]; blocks: number[] }
  | { do: 'remove'; task: number }
  | { do: 'parallel'; most: number };

interface Graph {
  readonly size: number;
  readonly edges: readonly [number, number][];
  readonly most: number;
}

const AGENTS = 4;
const agent = fc.nat(AGENTS - 1);
/** Stands for the agent that holds the task, or for any agent if the task is unclaimed. A random choice alone would rarely pick the holder. */
const HOLDER = AGENTS;
const writer = fc.oneof(agent, fc.constant(HOLDER));
const task = fc.nat(11);
const some = fc.array(task, { maxLength: 2 });
const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
const is = <const T extends string>(...names: T[]) => fc.constantFrom(...names);

const step: fc.Arbitrary<Step> = fc.oneof(
  weighted(8, fc.record({ do: is('claim'), agent, task })),
  weighted(16, fc.record({ do: is('advance'), task, choices: fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }) })),
  weighted(6, fc.record({ do: is('update'), agent: writer, task, to: is(...TASK_STATUSES), named: fc.boolean(), fence: is('none', 'current', 'old') })),
  weighted(3, fc.record({ do: is('release', 'replan'), agent: writer, task })),
  weighted(8, fc.record({ do: is('beat', 'register'), agent })),
  weighted(1, fc.record({ do: is('unregister'), agent })),
  weighted(3, fc.record({ do: is('wait'), ms: fc.constantFrom(20_000, 50_000, 89_999, 90_000) })),
  weighted(1, fc.record({ do: is('add'), deps: some, blocks: some })),
  weighted(1, fc.record({ do: is('remove'), task })),
  weighted(1, fc.record({ do: is('parallel'), most: fc.integer({ min: 1, max: 4 }) })),
);

const graph: fc.Arbitrary<Graph> = fc.record({
  size: fc.integer({ min: 3, max: 7 }),
  edges: fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { maxLength: 8 }),
  most: fc.integer({ min: 1, max: 4 }),
});

interface World {
  readonly app: WorkflowApp;
  readonly workflowId: string;
  /** Two agents of Ana with the same token, one of Ana with another token, and one of Ben. */
  readonly agents: { id: string; by: TestCaller }[];
  /** All tasks that ever existed, including removed tasks. */
  readonly tasks: string[];
  readonly fences: Map<string, number>;
  added: number;
}

const rowsOf = ({ app, workflowId }: World): Promise<WorkflowTaskRow[]> =>
  app.app.store.reader.selectFrom('workflow_tasks').selectAll().where('workflow_id', '=', workflowId).orderBy('id').execute();
const agentRow = ({ app }: World, id: string) => app.app.store.reader.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const isOffline = async (world: World, id: string) => (await agentRow(world, id)).status === 'offline';

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const RESULT: Partial<Record<TaskStatus, object>> = { completed: { outcome: 'done' }, failed: { error: 'broken' } };

/** Reduces an answer to one word: the code of a refusal, or the result of a success. */
const verdict = (body: Body, isError: boolean): string =>
  isError ? body.code : body.success === false ? 'taken' : body.changed === false ? 'unchanged' : 'ok';

/** Computes the expected answer to a claim from the current rows. */
async function claimVerdict(world: World, row: WorkflowTaskRow | undefined, agentId: string): Promise<string> {
  if (await isOffline(world, agentId)) return 'INVALID_STATE';
  if (!row) return 'TASK_NOT_FOUND';
  if (row.assigned_agent_id === agentId) return 'ok';
  if (isSatisfied(row.status)) return 'INVALID_STATE';
  if (row.assigned_agent_id !== null) return 'taken';
  if (shownStatus(row) === 'blocked') return 'TASK_BLOCKED';
  const claimed = (await rowsOf(world)).filter(({ assigned_agent_id }) => assigned_agent_id !== null).length;
  const { max_parallel_tasks } = await world.app.ok('workflow_get', { id: world.workflowId });
  return claimed >= max_parallel_tasks ? 'PARALLEL_LIMIT' : 'ok';
}

async function holdVerdict(world: World, row: WorkflowTaskRow, by: TestCaller, agentId: string | undefined, fence: number | undefined): Promise<string | null> {
  if (fence !== undefined && fence !== row.fence) return 'STALE_CLAIM';
  if (row.assigned_agent_id === null) {
    const isLate = agentId !== undefined && fence === undefined && row.completed_by !== agentId && (await isOffline(world, agentId));
    return isLate ? 'STALE_CLAIM' : null;
  }
  if (agentId !== undefined) return agentId === row.assigned_agent_id ? null : 'NOT_ASSIGNED';
  return (await agentRow(world, row.assigned_agent_id)).token_id === by.tokenId ? null : 'NOT_ASSIGNED';
}

async function carryOut(world: World, action: Step): Promise<void> {
  const { app, workflowId, agents, tasks } = world;
  const live = (await rowsOf(world)).filter(({ status }) => status !== 'removed');
  const rowOf = (index: number) => live.find(({ id }) => id === pick(tasks, index));
  const writing = (index: number, row: WorkflowTaskRow | undefined) =>
    (index === HOLDER ? agents.find(({ id }) => id === row?.assigned_agent_id) : undefined) ?? pick(agents, index);
  const call = async (name: string, args: object, by: TestCaller = app.ana) => {
    const { body, isError } = await app.tool(name, args, by);
    expect(body.code, JSON.stringify(body)).not.toBe('INTERNAL');
    return { body: body as Body, said: verdict(body, isError) };
  };
  switch (action.do) {
    case 'wait': {
      app.clock.advance(action.ms);
      const reader = app.app.store.reader;
      await expect
        .poll(
          async () =>
            (await reader.selectFrom('agents').selectAll().where('status', '!=', 'offline').execute()).filter((row) => isSilent(row, app.clock.now())),
          {
            interval: 5,
          },
        )
        .toEqual([]);
      return;
    }
    case 'register': {
      const who = pick(agents, action.agent);
      if (await isOffline(world, who.id)) who.id = await app.agent(who.by);
      return;
    }
    case 'beat': {
      const { id, by } = pick(agents, action.agent);
      const expected = (await isOffline(world, id)) ? 'INVALID_STATE' : 'ok';
      expect((await call('agent_heartbeat', { agent_id: id }, by)).said).toBe(expected);
      return;
    }
    case 'unregister': {
      const { id, by } = pick(agents, action.agent);
      const held = live.filter(({ assigned_agent_id }) => assigned_agent_id === id).length;
      expect((await call('agent_unregister', { id }, by)).body).toEqual({ success: true, tasks_released: held });
      return;
    }
    case 'claim': {
      const { id, by } = pick(agents, action.agent);
      const row = rowOf(action.task);
      const expected = await claimVerdict(world, row, id);
      const { body, said } = await call('task_claim', { task_id: pick(tasks, action.task), agent_id: id }, by);
      expect(said).toBe(expected);
      if (said === 'taken') expect(body.already_claimed_by).toBe(row?.assigned_agent_id);
      if (said === 'ok') expect(body.fence).toBe(row?.assigned_agent_id === id ? row.fence : (row?.fence ?? 0) + 1);
      return;
    }
    case 'release': {
      const row = rowOf(action.task);
      const { id, by } = writing(action.agent, row);
      const held = row?.assigned_agent_id === id ? 'ok' : row?.assigned_agent_id === null ? 'NOT_CLAIMED' : 'NOT_ASSIGNED';
      expect((await call('task_release', { task_id: pick(tasks, action.task), agent_id: id }, by)).said).toBe(row ? held : 'TASK_NOT_FOUND');
      return;
    }
    case 'replan': {
      const row = rowOf(action.task);
      const { id, by } = writing(action.agent, row);
      const input = { id: pick(tasks, action.task), reason: 'r', new_plan: { approach: 'a', steps: [] }, agent_id: id };
      const allowed = row && (row.status === 'in_progress' || row.status === 'failed') ? 'ok' : 'INVALID_TRANSITION';
      const expected = row ? ((await holdVerdict(world, row, by, id, undefined)) ?? allowed) : 'TASK_NOT_FOUND';
      expect((await call('task_replan', input, by)).said).toBe(expected);
      const after = (await rowsOf(world)).find((one) => one.id === row?.id);
      if (row && expected === 'ok') expect(after).toMatchObject({ status: 'pending', assigned_agent_id: null, error: null, fence: row.fence + 1 });
      return;
    }
    case 'advance': {
      for (const choice of action.choices) {
        const row = (await rowsOf(world)).find(({ id, status }) => id === pick(tasks, action.task) && status !== 'removed');
        const ways = row ? TASK_MACHINE[row.status] : [];
        if (!row || ways.length === 0) return;
        const { id, by } = writing(HOLDER, row);
        const to = pick(ways, choice) as TaskStatus;
        const { said } = await call('task_update_status', { id: row.id, status: to, agent_id: id, fence: row.fence, ...RESULT[to] }, by);
        expect(said).toBe(shownStatus(row) === 'blocked' ? 'TASK_BLOCKED' : 'ok');
      }
      return;
    }
    case 'update': {
      const row = rowOf(action.task);
      const { id: agentId, by } = writing(action.agent, row);
      const named = action.named ? agentId : undefined;
      const fence = { none: undefined, current: row?.fence ?? 0, old: Math.max(0, (row?.fence ?? 0) - 1) }[action.fence];
      const input = { id: pick(tasks, action.task), status: action.to, agent_id: named, fence, ...RESULT[action.to] };
      const expected = row ? ((await holdVerdict(world, row, by, named, fence)) ?? stepVerdict(row, action.to)) : 'TASK_NOT_FOUND';
      expect((await call('task_update_status', input, by)).said, `${row?.status}→${action.to}`).toBe(expected);
      return;
    }
    case 'add': {
      const refs = (indexes: number[]) => indexes.map((index) => pick(tasks, index));
      const input = { workflow_id: workflowId, name: `added ${world.added++}`, description: '', depends_on: refs(action.deps), blocks: refs(action.blocks) };
      const { body, said } = await call('workflow_add_task', input);
      if (said === 'ok') tasks.push(body.task_id);
      return;
    }
    case 'remove':
      await call('workflow_remove_task', { workflow_id: workflowId, task_id: pick(tasks, action.task) });
      return;
    case 'parallel':
      await call('workflow_set_parallelism', { id: workflowId, max_parallel_tasks: action.most });
  }
}

function stepVerdict(row: WorkflowTaskRow, to: TaskStatus): string {
  const from = shownStatus(row);
  if (from === to) return 'unchanged';
  if (from === 'blocked' && to === 'planning') return 'TASK_BLOCKED';
  return from !== 'blocked' && (TASK_MACHINE[from] as readonly string[]).includes(to) ? 'ok' : 'INVALID_TRANSITION';
}

/** Checks the invariants on the stored rows, not on the answers. */
async function check(world: World, before: readonly WorkflowTaskRow[], action: Step): Promise<void> {
  const { app, workflowId, fences } = world;
  const all = await rowsOf(world);
  const rows = all.filter(({ status }) => status !== 'removed');
  const byId = new Map(rows.map((row) => [row.id, row]));
  const edges = await app.app.store.reader.selectFrom('workflow_dependencies').selectAll().where('workflow_id', '=', workflowId).execute();
  const agents = new Map((await app.app.store.reader.selectFrom('agents').selectAll().execute()).map((row) => [row.id, row]));
  const claimed = rows.filter(({ assigned_agent_id }) => assigned_agent_id !== null);
  for (const row of rows) {
    const open = edges.filter(
      ({ task_id, depends_on }) => task_id === row.id && byId.has(depends_on) && !isSatisfied(byId.get(depends_on)?.status ?? 'pending'),
    );
    expect(row.open_dependencies, `${row.name} waits for`).toBe(open.length);
    if (row.status !== 'pending') expect(open, `${row.name} is ${row.status}`).toEqual([]);
    expect(row.fence).toBeGreaterThanOrEqual(fences.get(row.id) ?? 0);
    fences.set(row.id, row.fence);
    const was = before.find(({ id }) => id === row.id);
    if (was && action.do !== 'replan') {
      const gained = was.assigned_agent_id === null && row.assigned_agent_id !== null;
      // A status change that ends the claim keeps the fence, so that the holder can repeat the call. Any other end of a claim raises the fence.
      const taken = was.assigned_agent_id !== null && row.assigned_agent_id === null && action.do !== 'advance' && action.do !== 'update';
      expect(row.fence - was.fence, `fence of ${row.name}`).toBe(gained || taken ? 1 : 0);
      if (taken) expect(row.status, `${row.name} without its holder`).toBe(was.status === 'failed' ? 'failed' : 'pending');
    }
    expect(row.claimed_at === null).toBe(row.assigned_agent_id === null);
    if (isSatisfied(row.status)) expect(row.assigned_agent_id).toBeNull();
  }
  for (const { assigned_agent_id } of claimed) {
    const holder = agents.get(assigned_agent_id as string);
    expect(holder && holder.status !== 'offline' && !isSilent(holder, app.clock.now())).toBe(true);
  }
  for (const { id, current_task_id, status } of agents.values()) {
    if (current_task_id !== null) expect(byId.get(current_task_id)?.assigned_agent_id).toBe(id);
    if (status === 'busy') expect(claimed.some(({ assigned_agent_id }) => assigned_agent_id === id)).toBe(true);
  }
  const most = (await app.ok('workflow_get', { id: workflowId })).max_parallel_tasks;
  if (action.do === 'claim')
    expect(claimed.length).toBeLessThanOrEqual(Math.max(most, before.filter(({ assigned_agent_id }) => assigned_agent_id !== null).length));
  const progress = await app.ok('workflow_progress', { workflow_id: workflowId });
  const recount = Object.fromEntries(TASK_STATUSES.map((status) => [status, rows.filter((row) => shownStatus(row) === status).length]));
  expect(progress.by_status).toEqual(recount);
  expect(progress.total_tasks).toBe(rows.length);
  expect(Object.values<number>(progress.by_status).reduce((sum, each) => sum + each, 0)).toBe(rows.length);
}

/** Checks that each claim in the journal has a higher fence than all claims before it. */
async function checkHistory({ app }: World): Promise<void> {
  const claims = Map.groupBy(await app.events({ kind: 'workflow.task_claimed' }), ({ subject }) => subject);
  for (const history of claims.values()) {
    const fences = history.map(({ payload }) => Number(payload.fence));
    expect(fences).toEqual([...new Set(fences)].sort((a, b) => a - b));
  }
}

test(
  'for any sequence of calls, a task has one live holder, nothing runs before its dependencies, fences rise, and counts add up',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        graph,
        fc.array(step, { minLength: 30, maxLength: 80 }),
        inRun(async ({ size, edges, most }, steps) => {
          const app = await workflowApp();
          const elsewhere = await app.developer('ana', 'codex');
          const name = (index: number) => `t${index}`;
          const words = Array.from({ length: size }, (_, to) => ({
            name: name(to),
            depends_on: [...new Set(edges.filter(([a, b]) => Math.max(a, b) === to && a !== b && Math.max(a, b) < size).map(([a, b]) => name(Math.min(a, b))))],
          }));
          const { workflow_id, ids } = await app.planned(words, { workflow: { max_parallel_tasks: most } });
          const callers = [app.ana, app.ana, elsewhere, app.ben];
          const agents = await Promise.all(callers.map(async (by) => ({ id: await app.agent(by), by })));
          const world: World = { app, workflowId: workflow_id, agents, tasks: words.map((word) => ids[word.name] as string), fences: new Map(), added: 0 };
          for (const action of steps) {
            const before = await rowsOf(world);
            await carryOut(world, action);
            await check(world, before, action);
          }
          await checkHistory(world);
          await app.app.close();
        }),
      ),
      runs(15),
    );
  },
  patience(180_000),
);

import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import type { Db } from '../../../storage/engine.ts';
import { runs } from '../../../testing/runs.ts';
import { ended, manyCheckpoints } from '../../../testing/scenes/recovery.ts';
import { type Body, workflowApp } from '../../../testing/scenes/workflow.ts';
import { requireTask, requireWorkflow } from '../workflows/index.ts';
import { contextOf } from './context.ts';
import { loadContext } from './contract.ts';
import { loadTokenizer } from './tokens.ts';

const measured = (value: unknown) => countTokens(JSON.stringify(value), { disallowedSpecial: new Set() });
const prose = (words: number, about = 'invoice') => Array.from({ length: words }, (_, at) => `${about} ${at % 97} is checked.`).join(' ');
const names = (rows: Body[]) => rows.map(({ name }) => name);

test('a loaded context has the workflow, the task, prior tasks, siblings and dependencies [contextload.load.shape] [contextload.load.workflow-shape] [contextload.load.current-shape] [contextload.load.prior-shape] [contextload.load.sibling-shape] [contextload.load.dependency-shape] [contextload.include.plan-default] [contextload.include.summary-default] [contextload.include.prior-default] [contextload.include.siblings-default] [contextload.include.dependencies-default]', async () => {
  const app = await workflowApp();
  const plan = [
    { name: 'first', sequence: 1 },
    { name: 'second', description: 'Do it well', sequence: 2, parallel_group: 'g', depends_on: ['first'], files_likely_affected: ['src/a.ts'] },
    { name: 'beside', description: 'Something else', sequence: 2, parallel_group: 'g' },
    { name: 'later', sequence: 3 },
  ];
  // Data of another workflow is not loaded, even if its tasks have the same names.
  const other = await app.planned(plan);
  await app.completed(other.ids.first as string);
  await app.ok('checkpoint_add', { task_id: other.ids.second, type: 'progress', summary: 'Elsewhere' });
  const words = { workflow: { source_content: '  Please\n\n   ship   it. ' }, plan: { risks: ['It may rain'] } };
  const { ids, workflow_id } = await app.planned(plan, words);
  await app.completed(ids.first as string);
  const held = await app.started(ids.second as string);
  await app.ok('checkpoint_add', { task_id: ids.second, type: 'progress', summary: 'Half of it', detail: { at: 5 }, files_changed: ['src/a.ts'] });
  const context = await app.ok('task_load_context', { task_id: ids.second });
  expect(context).toEqual({
    workflow: {
      id: workflow_id,
      name: 'Ship it',
      source_type: 'prompt',
      source_summary: 'Please ship it.',
      plan_summary: 'What to do\n\nApproach: Step by step\n\nRisks:\n- It may rain',
      status: 'in_progress',
      max_parallel_tasks: 100,
    },
    current_task: {
      id: ids.second,
      name: 'second',
      description: 'Do it well',
      plan: null,
      context: {},
      checkpoints: [expect.objectContaining({ sequence: 1, type: 'progress', summary: 'Half of it', detail: { at: 5 }, files_changed: ['src/a.ts'] })],
      status: 'in_progress',
      assigned_agent_id: held.agent_id,
      fence: held.fence,
      workspace_id: null,
      files_likely_affected: ['src/a.ts'],
    },
    prior_tasks: [{ id: ids.first, name: 'first', outcome: 'done', status: 'completed' }],
    sibling_tasks: [{ id: ids.beside, name: 'beside', status: 'pending', brief_summary: 'Something else' }],
    dependency_outcomes: [{ task_id: ids.first, task_name: 'first', outcome: 'done', status: 'completed' }],
    omitted: [],
    token_estimate: measured(context),
  });
});

test('parts that are switched off are left out, and an unknown part is refused [contextload.include.switched-off] [contextload.load.include-shape]', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned([{ name: 'first' }, { name: 'second', depends_on: ['first'] }, { name: 'beside', sequence: 2 }]);
  await ended(app, [ids.first as string], () => 'done');
  await manyCheckpoints(app, ids.second as string, 3);
  const load = (include: object) => app.ok('task_load_context', { task_id: ids.second, include });
  expect((await load({ workflow_plan: false })).workflow).not.toHaveProperty('plan_summary');
  expect((await load({ workflow_summary: false })).workflow).not.toHaveProperty('source_summary');
  expect((await load({ prior_task_outcomes: false })).prior_tasks).toEqual([]);
  expect(await load({ sibling_status: false })).not.toHaveProperty('sibling_tasks');
  expect(await load({ dependency_outcomes: false })).not.toHaveProperty('dependency_outcomes');
  expect((await load({ recent_checkpoints: 0 })).current_task.checkpoints).toEqual([]);
  const flags = ['workflow_plan', 'workflow_summary', 'prior_task_outcomes', 'prior_task_full', 'sibling_status', 'dependency_outcomes', 'all_checkpoints'];
  const all = await load({ ...Object.fromEntries(flags.map((flag) => [flag, true])), recent_checkpoints: 1 });
  expect(all.workflow).toHaveProperty('plan_summary');
  for (const [part, wrong] of [...flags.map((flag) => [flag, 1] as const), ['recent_checkpoints', true] as const]) {
    expect(await app.refused('task_load_context', { task_id: ids.second, include: { [part]: wrong } })).toMatchObject({ field: `include.${part}` });
  }
  expect(all.sibling_tasks).toHaveLength(1);
  expect(await app.refused('task_load_context', { task_id: ids.second, include: { checkpoints: true } })).toMatchObject({
    code: 'INVALID_INPUT',
    field: 'include.checkpoints',
  });
  expect(await app.refused('task_load_context', { task_id: 'tk_none' })).toMatchObject({ code: 'TASK_NOT_FOUND', field: 'task_id' });
});

test('the five newest checkpoints are loaded by default, or as many as requested, or all, ordered by sequence [contextload.include.recent-checkpoints-default] [contextload.include.all-checkpoints-default]', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned(['only']);
  await manyCheckpoints(app, ids.only as string, 20);
  const sequences = async (include: object) => {
    const { current_task, omitted } = await app.ok('task_load_context', { task_id: ids.only, include });
    expect(omitted).toEqual([]);
    return current_task.checkpoints.map(({ sequence }: Body) => sequence);
  };
  expect(await sequences({})).toEqual([16, 17, 18, 19, 20]);
  expect(await sequences({ recent_checkpoints: 2 })).toEqual([19, 20]);
  expect(await sequences({ recent_checkpoints: 1_000 })).toHaveLength(20);
  expect(await sequences({ all_checkpoints: true })).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
});

test('if there are too many checkpoints, older ones lose their detail first and are dropped next; the newest stay, and the answer lists what was cut [contextload.budget.names-cuts]', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned(['only', 'other']);
  await manyCheckpoints(app, ids.other as string, 300);
  await manyCheckpoints(app, ids.only as string, 300, (at) => ({ note: prose(at > 290 ? 6 : 100, `point ${at}`) }));
  const context = await app.ok('task_load_context', { task_id: ids.only, include: { all_checkpoints: true }, max_tokens: 4_000 });
  const { checkpoints } = context.current_task;
  const sequences = checkpoints.map(({ sequence }: Body) => sequence);
  expect(sequences.length).toBeGreaterThan(20);
  expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, at) => 300 - sequences.length + at + 1));
  const withDetail = checkpoints.filter(({ detail }: Body) => detail !== null).map(({ sequence }: Body) => sequence);
  expect(withDetail.slice(-5)).toEqual([296, 297, 298, 299, 300]);
  expect(context.omitted).toEqual([
    { section: 'checkpoints', count: 300 - sequences.length, reason: 'left out to fit max_tokens' },
    { section: 'checkpoint_detail', count: sequences.length - withDetail.length, reason: 'shortened to fit max_tokens' },
  ]);
  expect(context.token_estimate).toBeGreaterThan(3_800);
  expect(measured(context)).toBe(context.token_estimate);
  const most = await app.ok('task_load_context', { task_id: ids.only, include: { all_checkpoints: true }, max_tokens: 30_000 });
  expect(most.current_task.checkpoints.map(({ sequence }: Body) => sequence)).toEqual(Array.from({ length: 300 }, (_, at) => at + 1));
});

test("prior tasks are ended tasks up to the task's own sequence, nearest last; if there is too little room, the nearest stay", async () => {
  const app = await workflowApp();
  const tasks = Array.from({ length: 60 }, (_, at) => ({ name: `t${at}`, sequence: at }));
  const { ids } = await app.planned([...tasks, { name: 'now', sequence: 60 }, { name: 'open', sequence: 59 }, { name: 'later', sequence: 61 }]);
  await ended(
    app,
    tasks.map(({ name }) => ids[name] as string),
    (at) => prose(12, `outcome of ${at}`),
  );
  await ended(app, [ids.later as string], () => 'too late');
  await ended(app, [ids.t3 as string], () => 'It broke', 'failed');
  const all = await app.ok('task_load_context', { task_id: ids.now, max_tokens: 50_000 });
  expect(names(all.prior_tasks)).toEqual(tasks.map(({ name }) => name));
  expect(all.prior_tasks[3]).toMatchObject({ status: 'failed' });
  const some = await app.ok('task_load_context', { task_id: ids.now, max_tokens: 2_000 });
  expect(some.prior_tasks.length).toBeLessThan(60);
  expect(names(some.prior_tasks)).toEqual(names(all.prior_tasks).slice(-some.prior_tasks.length));
  expect(some.prior_tasks.at(-1)).toEqual(all.prior_tasks.at(-1));
  expect(some.omitted).toContainEqual({ section: 'prior_tasks', count: 60 - some.prior_tasks.length, reason: 'left out to fit max_tokens' });
});

test('the outcome of a prior task is summarised unless it is requested in full [contextload.include.prior-full-default]', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned([{ name: 'first', description: 'What it was' }, 'second']);
  const outcome = prose(100);
  await ended(app, [ids.first as string], () => outcome);
  const [summarised] = (await app.ok('task_load_context', { task_id: ids.second })).prior_tasks;
  expect(Object.keys(summarised)).toEqual(['id', 'name', 'outcome', 'status']);
  expect(outcome.startsWith(summarised.outcome)).toBe(true);
  expect(summarised.outcome).toMatch(/checked\.$/);
  expect(summarised.outcome.length).toBeLessThanOrEqual(400);
  const [full] = (await app.ok('task_load_context', { task_id: ids.second, include: { prior_task_full: true } })).prior_tasks;
  expect(full).toMatchObject({ name: 'first', outcome, description: 'What it was', plan: null, outcome_detail: null });
});

test('siblings are tasks of the same group, or of the same sequence if the task has no group; each has a brief summary', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned([
    { name: 'a', sequence: 1, parallel_group: 'g' },
    { name: 'b', sequence: 2, parallel_group: 'g', description: 'Long ago '.repeat(60) },
    { name: 'c', sequence: 1 },
    { name: 'd', sequence: 1 },
  ]);
  const siblings = async (task_id?: string) => (await app.ok('task_load_context', { task_id })).sibling_tasks;
  expect(names(await siblings(ids.a))).toEqual(['b']);
  expect(names(await siblings(ids.c))).toEqual(['a', 'd']);
  expect((await siblings(ids.a))[0].brief_summary.length).toBeLessThanOrEqual(160);
  await manyCheckpoints(app, ids.b as string, 2);
  expect((await siblings(ids.a))[0].brief_summary).toBe('Checkpoint number 2 of the work');
  await ended(app, [ids.b as string], () => 'All there');
  expect((await siblings(ids.a))[0]).toMatchObject({ status: 'completed', brief_summary: 'All there' });
});

test('the budget is 8000 tokens by default, and one section may use it all [contextload.budget.default] [contextload.budget.unused-passed-on]', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned(['only'], { workflow: { source_content: prose(20_000).slice(0, 190_000) } });
  const usual = await app.ok('task_load_context', { task_id: ids.only });
  expect(usual.token_estimate).toBeLessThanOrEqual(8_000);
  expect(usual.token_estimate).toBeGreaterThan(7_800);
  expect(usual.omitted).toEqual([{ section: 'source', count: expect.any(Number), reason: 'shortened to fit max_tokens' }]);
  const larger = await app.ok('task_load_context', { task_id: ids.only, max_tokens: 20_000 });
  expect(larger.token_estimate).toBeGreaterThan(19_000);
});

test('a budget that is too small for ids and names is refused; the refusal names the minimum, and a call with it succeeds', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned([{ name: 'a task', description: prose(50) }], { workflow: { source_content: prose(100) } });
  const refusal = await app.refused('task_load_context', { task_id: ids['a task'], max_tokens: 20 });
  expect(refusal).toMatchObject({ code: 'BUDGET_TOO_SMALL', field: 'max_tokens', minimum: expect.any(Number) });
  expect(refusal.message).toContain(String(refusal.minimum));
  const least = await app.ok('task_load_context', { task_id: ids['a task'], max_tokens: refusal.minimum });
  expect(measured(least)).toBe(least.token_estimate);
  expect(least.token_estimate).toBeLessThanOrEqual(refusal.minimum);
  expect(least.current_task.name).toBe('a task');
  expect(await app.refused('task_load_context', { task_id: ids['a task'], max_tokens: refusal.minimum - 1 })).toMatchObject({ code: 'BUDGET_TOO_SMALL' });
  for (const max_tokens of [0, 200_001, 1.5]) {
    expect(await app.refused('task_load_context', { task_id: ids['a task'], max_tokens })).toMatchObject({ code: 'INVALID_INPUT', field: 'max_tokens' });
  }
});

test('the answer never exceeds the budget, whatever is included; the same state gives the same bytes [contextload.budget.never-exceeded]', async () => {
  const app = await workflowApp();
  const blob = (at: number) => Buffer.from(prose(at % 40, `漢字 👩‍👩‍👧 ${at}`)).toString('base64');
  const tasks = Array.from({ length: 40 }, (_, at) => ({ name: `名前 ${at} 🚀`, description: at % 3 ? prose(at) : blob(at), sequence: Math.floor(at / 4) }));
  const { ids } = await app.planned([...tasks, { name: 'now', description: blob(39), sequence: 9, depends_on: tasks.slice(0, 20).map(({ name }) => name) }], {
    workflow: { source_content: `<|endoftext|> ${prose(500)}` },
    plan: { approach: prose(200, '計画') },
  });
  await ended(
    app,
    tasks.slice(0, 30).map(({ name }) => ids[name] as string),
    (at) => (at % 2 ? blob(at) : prose(at * 3)),
  );
  await manyCheckpoints(app, ids.now as string, 150, (at) => (at % 3 ? { blob: blob(at), at } : null));
  const flag = fc.boolean();
  const include = fc.record(
    {
      workflow_plan: flag,
      workflow_summary: flag,
      prior_task_outcomes: flag,
      prior_task_full: flag,
      sibling_status: flag,
      dependency_outcomes: flag,
      all_checkpoints: flag,
      recent_checkpoints: fc.nat(200),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(include, fc.integer({ min: 400, max: 30_000 }), async (wanted, max_tokens) => {
      const load = () => app.ok('task_load_context', { task_id: ids.now, include: wanted, max_tokens });
      const context = await load();
      expect(measured(context)).toBe(context.token_estimate);
      expect(context.token_estimate).toBeLessThanOrEqual(max_tokens);
      expect(JSON.stringify(await load())).toBe(JSON.stringify(context));
    }),
    { ...runs(20), interruptAfterTimeLimit: 15_000 },
  );
});

test('an agent that retries a failed task sees why it failed', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned(['only']);
  const fail = async (error: string) => {
    const { agent_id } = await app.started(ids.only as string);
    const failed = { id: ids.only, status: 'failed', error, outcome_detail: { exit_code: 3 }, agent_id };
    expect(await app.ok('task_update_status', failed)).toMatchObject({ changed: true });
    expect(await app.ok('task_update_status', failed)).toMatchObject({ changed: false });
    await app.ok('task_update_status', { id: ids.only, status: 'pending' });
  };
  await fail('The port is taken');
  const long = prose(900, 'trace');
  await fail(long);
  const { checkpoints } = (await app.ok('task_load_context', { task_id: ids.only, max_tokens: 50_000 })).current_task;
  expect(checkpoints).toMatchObject([
    { type: 'error', summary: 'The port is taken', detail: { outcome_detail: { exit_code: 3 } } },
    { type: 'error', detail: { error: long } },
  ]);
  expect(checkpoints[1].summary.length).toBeLessThanOrEqual(4_000);
});

test('a prior task that is requested in full but does not fit is summarised', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned(['first', 'second']);
  const outcome = 'The parser reads the new format, and the old one as before.';
  await ended(app, [ids.first as string], () => outcome);
  await app.app.store.write(DEFAULT_WORKSPACE_ID, ({ db }) =>
    db
      .updateTable('workflow_tasks')
      .set({ plan: JSON.stringify({ approach: prose(2_000) }) })
      .where('id', '=', ids.first as string)
      .execute(),
  );
  const { prior_tasks, omitted } = await app.ok('task_load_context', { task_id: ids.second, include: { prior_task_full: true }, max_tokens: 2_000 });
  expect(prior_tasks).toEqual([{ id: ids.first, name: 'first', outcome, status: 'completed' }]);
  expect(omitted).toEqual([{ section: 'prior_outcomes', count: 1, reason: 'shortened to fit max_tokens' }]);
});

/** Forwards reads to the database and records the rows that are returned, except rows that contain only ids. */
function watched(db: Db): { db: Db; rows: Body[] } {
  const rows: Body[] = [];
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      rows.push(...result.rows.filter((row) => Object.keys(row).length > 1));
      return result;
    },
  };
  return { db: db.withPlugin(plugin), rows };
}

/** Counts how often other calls could run during the work. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let going = true;
  const turn = (): void => {
    turns++;
    if (going) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  going = false;
  return turns;
}

test('of 10,000 checkpoints, prior tasks and siblings, the server reads only as many as can fit, and other calls run in between', async () => {
  const app = await workflowApp();
  const tasks = Array.from({ length: 9_999 }, (_, at) => ({ name: `t${at}`, sequence: 1 }));
  const { ids, workflow_id } = await app.planned([{ name: 'now', sequence: 1 }, ...tasks]);
  await app.app.store.write(DEFAULT_WORKSPACE_ID, ({ db }) =>
    db
      .updateTable('workflow_tasks')
      .set({ status: 'completed', outcome: prose(5) })
      .where('workflow_id', '=', workflow_id)
      .where('name', '!=', 'now')
      .execute(),
  );
  await manyCheckpoints(app, ids.now as string, 10_000, (at) => ({ at }));
  const reader = app.app.store.reader;
  const task = await requireTask(reader, DEFAULT_WORKSPACE_ID, ids.now as string);
  const workflow = await requireWorkflow(reader, DEFAULT_WORKSPACE_ID, workflow_id);
  const include = loadContext.input.shape.include.parse({ all_checkpoints: true });
  const { db, rows } = watched(reader);
  const context = await contextOf(db, { workflow, task, include, max: 8_000 }, await loadTokenizer());
  expect(context.current_task.checkpoints.at(-1)?.sequence).toBe(10_000);
  expect(context.omitted.find(({ section }) => section === 'prior_tasks')?.count).toBe(9_999 - context.prior_tasks.length);
  expect(context.omitted.find(({ section }) => section === 'sibling_tasks')?.count).toBe(9_999 - (context.sibling_tasks ?? []).length);
  expect(rows.length).toBeLessThan(900);
  const tokens = await loadTokenizer();
  expect(await turnsDuring(() => contextOf(reader, { workflow, task, include, max: 200_000 }, tokens))).toBeGreaterThan(5);
});

test('if prior tasks are requested in full, the server reads only as much of their text as can fit', async () => {
  const app = await workflowApp();
  const tasks = Array.from({ length: 60 }, (_, at) => ({ name: `t${at}`, sequence: 1 }));
  const { ids, workflow_id } = await app.planned([...tasks, { name: 'now', sequence: 2 }]);
  await app.app.store.write(DEFAULT_WORKSPACE_ID, ({ db }) =>
    db
      .updateTable('workflow_tasks')
      .set({ status: 'completed', outcome: 'done', plan: JSON.stringify({ approach: prose(400) }) })
      .where('name', '!=', 'now')
      .execute(),
  );
  const reader = app.app.store.reader;
  const task = await requireTask(reader, DEFAULT_WORKSPACE_ID, ids.now as string);
  const workflow = await requireWorkflow(reader, DEFAULT_WORKSPACE_ID, workflow_id);
  const { db, rows } = watched(reader);
  const include = loadContext.input.shape.include.parse({ prior_task_full: true });
  const context = await contextOf(db, { workflow, task, include, max: 3_000 }, await loadTokenizer());
  expect(rows.filter(({ plan }) => plan !== null)).toHaveLength(10);
  const { count = 0 } = context.omitted.find(({ section }) => section === 'prior_tasks') ?? {};
  expect(context.prior_tasks.length + count).toBe(60);
});

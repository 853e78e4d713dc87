import { expect, test } from 'vitest';
import { type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';

const THUMBNAILS = { name: 'Cache thumbnail images in the gallery', description: 'Keep generated thumbnails on disk' };
const SAME = { operation: 'check', title: 'Gallery thumbnail images cached on disk', task_type: 'feature' };

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what it finds
async function candidates({ tool, ana }: WorkflowApp): Promise<any[]> {
  return ((await tool('covibe_task', SAME, ana)).body as { data: { candidates?: object[] } }).data.candidates ?? [];
}

async function items({ app }: WorkflowApp): Promise<Map<string, { status: string; owner_id: string; closed_at: number | null; repo: string | null }>> {
  const rows = await app.store.reader.selectFrom('overlap_items').selectAll().execute();
  return new Map(rows.map((row) => [row.id, row]));
}

test("a teammate's check finds a workflow task and names the developer who planned it as its owner [overlap.candidates.workflow-tasks]", async () => {
  const app = await workflowApp();
  const { ids } = await app.planned([{ ...THUMBNAILS, files_likely_affected: ['src/thumbnails.ts'] }, 'Unrelated billing export'], { caller: app.ben });
  expect(await candidates(app)).toEqual([expect.objectContaining({ id: ids[THUMBNAILS.name], type: 'workflow_task', owner: 'ben', repo: '/srv/app' })]);
});

test('an added task is found too, and a removed task no longer counts as open work', async () => {
  const app = await workflowApp();
  const { workflow_id } = await app.planned(['Unrelated billing export'], { caller: app.ben });
  const { task_id } = await app.ok('workflow_add_task', { workflow_id, ...THUMBNAILS }, app.ben);
  expect(await candidates(app)).toEqual([expect.objectContaining({ id: task_id })]);
  await app.ok('workflow_remove_task', { workflow_id, task_id }, app.ben);
  expect((await items(app)).get(task_id)).toMatchObject({ status: 'cancelled', closed_at: app.clock.now() });
});

test("the index follows the task's status, and the task belongs to the developer whose agent holds it", async () => {
  const app = await workflowApp();
  const { ids } = await app.planned([THUMBNAILS], { caller: app.ben });
  const id = ids[THUMBNAILS.name] as string;
  const state = async () => {
    const item = (await items(app)).get(id);
    return [item?.status, item?.owner_id === app.ana.principal.developerId ? 'ana' : 'ben', item?.closed_at];
  };
  const seen = [await state()];
  const { agent_id } = await app.claimed(id);
  seen.push(await state());
  for (const step of [
    { status: 'planning' },
    { status: 'in_progress' },
    { status: 'paused' },
    { status: 'in_progress' },
    { status: 'completed', outcome: 'done' },
  ]) {
    await app.ok('task_update_status', { id, agent_id, ...step });
    seen.push(await state());
  }
  expect(seen.map(([status, owner]) => `${status} ${owner}`).slice(0, -1)).toEqual([
    'planned ben',
    'planned ana',
    'active ana',
    'active ana',
    'blocked ana',
    'active ana',
  ]);
  expect(seen.at(-1)?.[0]).toBe('completed');
  expect(seen.at(-1)?.[2]).toBe(app.clock.now());
});

test('the index cancels the open tasks of a completed workflow, and the open and completed tasks of an abandoned workflow', async () => {
  const app = await workflowApp();
  for (const [status, done] of [
    ['completed', 'completed'],
    ['abandoned', 'cancelled'],
  ]) {
    const { workflow_id: id, ids } = await app.planned(['a', 'b', 'c']);
    await app.completed(ids.a as string);
    await app.started(ids.b as string);
    await app.ok('workflow_update_status', { id, status });
    const index = await items(app);
    expect(['a', 'b', 'c'].map((name) => index.get(ids[name] as string)?.status)).toEqual([done, 'cancelled', 'cancelled']);
    expect(index.get(ids.c as string)?.closed_at).toBe(app.clock.now());
  }
});

test('a long plan is indexed in batches, each task with its current status, and can be paged by revision', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned(Array.from({ length: 1_201 }, (_, index) => `Task number ${index}`));
  expect((await items(app)).size).toBe(500);
  await app.completed(ids['Task number 1200'] as string);
  await app.ok('workflow_remove_task', { workflow_id, task_id: ids['Task number 1199'] });
  await swept(app);
  const index = await items(app);
  expect(index.size).toBe(1_201);
  expect(index.get(ids['Task number 1200'] as string)?.status).toBe('completed');
  expect(index.get(ids['Task number 1199'] as string)?.status).toBe('cancelled');
  await app.ok('workflow_update_status', { id: workflow_id, status: 'abandoned' });
  const rows = await app.app.store.reader.selectFrom('overlap_items').select(['revision', 'number', 'status']).execute();
  expect(new Set(rows.map(({ revision }) => revision)).size).toBe(rows.length);
  expect(new Set(rows.map(({ number }) => number)).size).toBe(rows.length);
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['cancelled']));
  const state = await app.app.store.reader.selectFrom('overlap_state').selectAll().executeTakeFirstOrThrow();
  expect(state).toMatchObject({ items: 1_201, next_number: 1_202 });
  expect(state.revision).toBeGreaterThanOrEqual(Math.max(...rows.map(({ revision }) => revision)));
});

test('unindexed tasks of an ended workflow are never indexed', async () => {
  const app = await workflowApp();
  const { workflow_id } = await app.planned(Array.from({ length: 600 }, (_, index) => `Task number ${index}`));
  await app.ok('workflow_update_status', { id: workflow_id, status: 'abandoned' });
  await swept(app);
  expect((await items(app)).size).toBe(500);
});

/** Waits until all tasks are indexed. */
async function swept({ app, clock }: WorkflowApp): Promise<void> {
  clock.advance(2_000);
  await expect
    .poll(async () => (await app.store.reader.selectFrom('workflow_tasks').select('id').where('indexed', '=', 0).execute()).length, { timeout: 20_000 })
    .toBe(0);
}

import { expect, test } from 'vitest';
import { type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';
import { type StoredTaskStatus, TASK_MACHINE, TASK_STATUSES, type TaskStatus, WORKFLOW_MACHINE, WORKFLOW_STATUSES } from '../workflows/index.ts';

/** The other fields that a status change requires. Because they are sent, only the table of status changes can be the reason for a refusal. */
const GIVEN: Partial<Record<TaskStatus, object>> = { completed: { outcome: 'done' }, failed: { error: 'broken' } };

async function put(app: WorkflowApp, table: 'workflow_tasks' | 'workflows', id: string, values: object): Promise<void> {
  await app.app.store.write(app.ana.principal.workspace, async (tx) => {
    await tx.db.updateTable(table).set(values).where('id', '=', id).execute();
  });
}

const allowed = (from: TaskStatus, to: TaskStatus) => from !== 'blocked' && (TASK_MACHINE[from] as readonly string[]).includes(to);

test(`the task status changes of the table are accepted, and all others are refused
  [task.machine.pending-planning] [task.machine.planning-in-progress] [task.machine.in-progress-completed] [task.machine.in-progress-paused]
  [task.machine.paused-in-progress] [task.machine.in-progress-failed] [task.machine.failed-pending] [task.machine.failed-skipped]
  [task.machine.others-refused]`, async () => {
  const app = await workflowApp();
  const { ids } = await app.planned(['first', { name: 'second', depends_on: ['first'] }, 'free']);
  const taken: string[] = [];
  for (const from of TASK_STATUSES) {
    for (const to of TASK_STATUSES) {
      const id = (from === 'blocked' ? ids.second : ids.free) as string;
      const status: StoredTaskStatus = from === 'blocked' ? 'pending' : from;
      await put(app, 'workflow_tasks', id, { status, outcome: null, outcome_detail: null, error: from === 'failed' ? 'before' : null });
      const before = await app.task(id);
      expect(before.status).toBe(from);
      const input = { id, status: to, ...GIVEN[to] };
      const step = `${from}→${to}`;
      if (from === to) {
        expect(await app.ok('task_update_status', { id, status: to }), step).toMatchObject({ success: true, changed: false });
        expect(await app.task(id), step).toEqual(before);
      } else if (allowed(from, to)) {
        expect(await app.ok('task_update_status', input), step).toMatchObject({ success: true, changed: true });
        expect((await app.task(id)).status, step).toBe(to);
        taken.push(step);
      } else {
        const refusal = await app.refused('task_update_status', input);
        const blocked = from === 'blocked' && to === 'planning';
        expect(refusal.code, step).toBe(blocked ? 'TASK_BLOCKED' : 'INVALID_TRANSITION');
        if (!blocked) expect(refusal, step).toMatchObject({ from, to, allowed: from === 'blocked' ? [] : TASK_MACHINE[from], recoverable: true });
        expect(await app.task(id), step).toEqual(before);
      }
    }
  }
  expect(taken.sort()).toEqual(
    [
      'pending→planning',
      'planning→in_progress',
      'in_progress→completed',
      'in_progress→paused',
      'in_progress→failed',
      'paused→in_progress',
      'failed→pending',
      'failed→skipped',
    ].sort(),
  );
});

test('the refusal of a task status lists the allowed statuses with their required fields, and for a task in a final status it gives the tool that adds another task', async () => {
  const app = await workflowApp();
  const { ids } = await app.planned(['one']);
  const id = ids.one as string;
  await app.started(id);
  const refused = () => app.refused('task_update_status', { id, status: 'planning' });
  expect((await refused()).suggestion).toContain('status "completed" with outcome or "paused" or "failed" with error');
  await app.ok('task_update_status', { id, status: 'completed', outcome: 'done' });
  expect((await refused()).suggestion).toContain('workflow_add_task with workflow_id, name and description');
});

test('the workflow status changes of the table are accepted, and all others are refused', async () => {
  const app = await workflowApp();
  const { workflow_id } = await app.planned(['only']);
  const shown = async () => (await app.ok('workflow_get', { id: workflow_id })).status;
  for (const from of WORKFLOW_STATUSES) {
    for (const to of WORKFLOW_STATUSES) {
      await put(app, 'workflows', workflow_id, { status: from });
      const step = `${from}→${to}`;
      const allowed: readonly string[] = WORKFLOW_MACHINE[from];
      if (from === to || allowed.includes(to)) {
        expect(await app.ok('workflow_update_status', { id: workflow_id, status: to }), step).toMatchObject({ success: true, changed: from !== to });
        expect(await shown(), step).toBe(to);
      } else {
        expect(await app.refused('workflow_update_status', { id: workflow_id, status: to }), step).toMatchObject({
          code: 'INVALID_TRANSITION',
          from,
          to,
          allowed,
        });
        expect(await shown(), step).toBe(from);
      }
    }
  }
});

test('tasks of an ended workflow cannot change, and tasks of a paused workflow cannot be claimed', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned(['one', 'two']);
  const held = await app.started(ids.one as string);
  const { ids: elsewhere } = await app.planned(['other']);
  const kept = await app.claimed(elsewhere.other as string);
  await app.ok('workflow_update_status', { id: workflow_id, status: 'paused' });
  expect(await app.refused('task_update_status', { id: ids.two, status: 'planning' })).toMatchObject({ code: 'INVALID_STATE', status: 'paused' });
  // In a paused workflow, tasks that have been started may still be finished.
  await app.ok('checkpoint_add', { task_id: ids.one, type: 'progress', summary: 'half way' });
  await app.ok('workflow_update_status', { id: workflow_id, status: 'abandoned' });
  const plan = { approach: 'a', steps: [] };
  for (const [tool, args] of Object.entries({
    task_update_status: { id: ids.one, status: 'completed', outcome: 'late' },
    task_replan: { id: ids.one, reason: 'late', new_plan: plan },
    task_set_plan: { id: ids.one, plan },
    checkpoint_add: { task_id: ids.one, type: 'progress', summary: 'late' },
    task_claim: { task_id: ids.two, agent_id: held.agent_id },
  })) {
    expect(await app.refused(tool, args), tool).toMatchObject({ code: 'INVALID_STATE', status: 'abandoned' });
  }
  expect(await app.task(ids.one as string)).toMatchObject({ status: 'in_progress', assigned_agent_id: null, claimed_at: null });
  expect(await app.ok('agent_get', { id: held.agent_id })).toMatchObject({ status: 'online', current_task_id: null });
  expect(await app.task(elsewhere.other as string)).toMatchObject({ assigned_agent_id: kept.agent_id, fence: kept.fence });
});

test('the first task in progress starts a ready workflow, and the event says that this was automatic', async () => {
  const app = await workflowApp();
  const { workflow_id, ids } = await app.planned(['one', 'two']);
  const move = async (id: string | undefined, status: string) => (await app.ok('task_update_status', { id, status })).workflow_status;
  expect([await move(ids.one, 'planning'), await move(ids.one, 'in_progress')]).toEqual(['ready', 'in_progress']);
  expect([await move(ids.two, 'planning'), await move(ids.two, 'in_progress')]).toEqual(['in_progress', 'in_progress']);
  const moved = (await app.events({ kind: 'workflow.status_changed' })).filter(({ payload }) => payload.to === 'in_progress');
  expect(moved).toMatchObject([{ subject: workflow_id, payload: { from: 'ready', reason: 'automatic' } }]);
  expect((await app.ok('workflow_get', { id: workflow_id })).started_at).toBe(app.clock.now());
});

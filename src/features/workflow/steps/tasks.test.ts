import { expect, test } from 'vitest';
import { workflowApp } from '../../../testing/scenes/workflow.ts';

const PLAN = {
  approach: 'Write the test first.',
  steps: ['Write the test', 'Make it pass'],
  files_to_modify: ['src/a.ts'],
  files_to_create: ['src/b.ts'],
  context_needed: ['the old parser'],
};

test('if the checkpoints do not fit in one answer, the newest are returned, with the number of older ones', async () => {
  const { ok, planned } = await workflowApp();
  const { ids } = await planned([{ name: 'one' }]);
  for (let n = 1; n <= 75; n++) await ok('checkpoint_add', { task_id: ids.one, type: 'progress', summary: `${n}`, detail: { text: 'x'.repeat(60_000) } });
  const { checkpoints, checkpoints_more } = await ok('task_get', { id: ids.one, include_checkpoints: true });
  expect([checkpoints.length, checkpoints_more, checkpoints.at(-1).summary]).toEqual([69, 6, '75']);
  const listed = await ok('checkpoint_list', { task_id: ids.one });
  expect([listed.checkpoints.length, listed.more]).toEqual([69, true]);
  const rest = await ok('checkpoint_list', { task_id: ids.one, since_sequence: listed.checkpoints.at(-1).sequence });
  expect([rest.checkpoints.length, rest.more]).toEqual([6, false]);
  expect(await ok('task_get', { id: ids.one, include_checkpoints: true, checkpoint_limit: 3 })).toMatchObject({ checkpoints_more: 0 });
});

test('task_get shows the task, and shows checkpoints only on request [task.get.shape] [task.get.checkpoints-default] [task.get.checkpoint-limit-default]', async () => {
  const { ok, refused, planned, clock } = await workflowApp();
  const { workflow_id, ids } = await planned([
    { name: 'one', description: 'The first', capabilities: ['ts'], estimated_complexity: 'low', parallel_group: 'g' },
  ]);
  const id = ids.one;
  for (const summary of ['a', 'b', 'c']) await ok('checkpoint_add', { task_id: id, type: 'progress', summary });
  const task = await ok('task_get', { id });
  expect(task).toMatchObject({
    id,
    workflow_id,
    name: 'one',
    description: 'The first',
    capabilities: ['ts'],
    parallel_group: 'g',
    status: 'pending',
    checkpoint_count: 3,
  });
  expect(task).toMatchObject({ plan: null, context: expect.any(Object), outcome: null, assigned_agent_id: null, fence: 0, created_at: clock.now() });
  expect(task).not.toHaveProperty('checkpoints');
  const summaries = async (args: object) => (await ok('task_get', { id, ...args })).checkpoints.map(({ summary }: { summary: string }) => summary);
  expect(await summaries({ include_checkpoints: true })).toEqual(['a', 'b', 'c']);
  expect(await summaries({ include_checkpoints: true, checkpoint_limit: 2 })).toEqual(['b', 'c']);
  expect(await refused('task_get', { id, checkpoint_limit: 2 })).toMatchObject({ code: 'INVALID_INPUT', field: 'checkpoint_limit' });
  expect(await refused('task_get', { id: 'tk_none' })).toMatchObject({ code: 'TASK_NOT_FOUND', field: 'id' });
});

test('task_get returns all checkpoints, even more than fit on one page of checkpoint_list [task.get.checkpoint-limit-default]', async () => {
  const { ok, app, planned, ana } = await workflowApp();
  const { ids } = await planned(['one']);
  await app.store.write(ana.principal.workspace, async (tx) => {
    const row = { workspace_id: tx.workspace, task_id: ids.one as string, type: 'progress' as const, detail: null, files_changed: '[]', agent_id: null };
    for (let from = 1; from <= 1_200; from += 400) {
      const rows = Array.from({ length: 400 }, (_, i) => ({
        ...row,
        sequence: from + i,
        id: `cp_${from + i}`,
        summary: 's',
        actor: 'server',
        created_at: tx.now,
      }));
      await tx.db.insertInto('checkpoints').values(rows).execute();
    }
    await tx.db
      .updateTable('workflow_tasks')
      .set({ last_checkpoint: 1_200 })
      .where('id', '=', ids.one as string)
      .execute();
  });
  expect((await ok('task_get', { id: ids.one, include_checkpoints: true })).checkpoints).toHaveLength(1_200);
  const page = await ok('checkpoint_list', { task_id: ids.one });
  expect([page.checkpoints.length, page.more]).toEqual([1_000, true]);
  const rest = await ok('checkpoint_list', { task_id: ids.one, since_sequence: page.checkpoints.at(-1).sequence });
  expect([rest.checkpoints.length, rest.more]).toEqual([200, false]);
});

test('a task in planning gets its plan, and its context is extended [task.set-plan.shape] [task.set-plan.stored]', async () => {
  const { ok, planned, claimed, events } = await workflowApp();
  const { ids } = await planned(['one']);
  const { agent_id } = await claimed(ids.one as string);
  await ok('task_update_status', { id: ids.one, status: 'planning', agent_id });
  expect(await ok('task_set_plan', { id: ids.one, plan: PLAN, context: { branch: 'x', keep: 1 }, agent_id })).toEqual({ success: true });
  await ok('task_set_plan', { id: ids.one, plan: { approach: 'Other', steps: ['s'] }, context: { branch: 'y', more: [1] }, agent_id });
  await ok('task_set_plan', { id: ids.one, plan: PLAN, agent_id });
  const task = await ok('task_get', { id: ids.one });
  expect(task.plan).toEqual(PLAN);
  expect(task.context).toMatchObject({ branch: 'y', keep: 1, more: [1] });
  expect((await events({ kind: 'workflow.task_planned' })).map(({ subject }) => subject)).toEqual([ids.one, ids.one, ids.one]);
  const loaded = await ok('task_load_context', { task_id: ids.one });
  expect(loaded.current_task).toMatchObject({ plan: PLAN, context: { branch: 'y', keep: 1, more: [1] } });
});

test('a plan can be set only in planning, and the context is bounded [task.set-plan.stored]', async () => {
  const { ok, refused, planned } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one;
  expect(await refused('task_set_plan', { id, plan: PLAN })).toMatchObject({ code: 'INVALID_STATE', status: 'pending' });
  await ok('task_update_status', { id, status: 'planning' });
  await ok('task_set_plan', { id, plan: PLAN, context: { a: 'x'.repeat(40_000) } });
  expect(await refused('task_set_plan', { id, plan: { approach: 'new', steps: [] }, context: { b: 'x'.repeat(40_000) } })).toMatchObject({ field: 'context' });
  expect((await ok('task_get', { id })).plan).toEqual(PLAN);
  expect(await refused('task_set_plan', { id, plan: { ...PLAN, steps: Array(501).fill('s') } })).toMatchObject({ field: 'plan.steps' });
  expect(await refused('task_set_plan', { id, plan: { ...PLAN, files: [] } })).toMatchObject({ field: 'plan.files' });
  for (const status of ['in_progress', 'paused']) {
    await ok('task_update_status', { id, status });
    expect(await refused('task_set_plan', { id, plan: PLAN })).toMatchObject({ code: 'INVALID_STATE', status });
  }
});

test('completed requires an outcome [task.update-status.shape] [task.update-status.outcome-required]', async () => {
  const { ok, refused, planned, started, clock, task } = await workflowApp();
  const { ids } = await planned(['one', 'two']);
  const id = ids.one as string;
  const { agent_id } = await started(id);
  for (const outcome of [undefined, '', '  ']) {
    expect(await refused('task_update_status', { id, status: 'completed', outcome, agent_id })).toMatchObject({ code: 'MISSING_OUTCOME', field: 'outcome' });
  }
  expect((await task(id)).status).toBe('in_progress');
  clock.advance(5);
  const answer = await ok('task_update_status', { id, status: 'completed', outcome: 'Parsed', outcome_detail: { lines: 3 }, agent_id });
  expect(answer).toEqual({ success: true, changed: true, workflow_status: 'in_progress', all_complete: false });
  expect(await task(id)).toMatchObject({
    status: 'completed',
    outcome: 'Parsed',
    outcome_detail: { lines: 3 },
    completed_by: agent_id,
    assigned_agent_id: null,
  });
  expect((await task(id)).finished_at).toBe(clock.now());
  expect(await ok('agent_get', { id: agent_id })).toMatchObject({ status: 'online', current_task_id: null });
  // Repeating the same call, as an agent does after a lost answer, changes nothing.
  expect(await ok('task_update_status', { id, status: 'completed', outcome: 'Again', agent_id })).toMatchObject({ changed: false, all_complete: false });
  expect((await task(id)).outcome).toBe('Parsed');
});

test('failed requires an error, and the given details of the outcome are stored [task.update-status.error-required] [task.update-status.outcome-detail]', async () => {
  const { ok, refused, planned, started, task } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one as string;
  const { agent_id, fence } = await started(id);
  for (const error of [undefined, '', '  ']) {
    expect(await refused('task_update_status', { id, status: 'failed', error, agent_id })).toMatchObject({ code: 'MISSING_ERROR', field: 'error' });
  }
  expect((await task(id)).status).toBe('in_progress');
  const outcome_detail = { tried: ['a', 'b'], deep: { error: 'not this' } };
  await ok('task_update_status', { id, status: 'failed', error: 'It broke', outcome_detail, agent_id });
  expect(await task(id)).toMatchObject({ status: 'failed', error: 'It broke', outcome: null, outcome_detail, assigned_agent_id: null, fence });
  await ok('task_update_status', { id, status: 'pending' });
  expect(await task(id)).toMatchObject({ status: 'pending', error: null, outcome: null, outcome_detail: null });
});

test('a field that does not belong to the status is refused, the refusal names it, and nothing changes', async () => {
  const { refused, planned, started, task } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one as string;
  const { agent_id } = await started(id);
  const wrong = [
    ['paused', { outcome: 'x' }, 'outcome'],
    ['paused', { outcome_detail: {} }, 'outcome_detail'],
    ['completed', { outcome: 'x', error: 'y' }, 'error'],
    ['failed', { outcome: 'x', error: 'y' }, 'outcome'],
  ] as const;
  for (const [status, fields, field] of wrong) {
    expect(await refused('task_update_status', { id, status, agent_id, ...fields })).toMatchObject({ code: 'INVALID_INPUT', field });
  }
  expect((await task(id)).status).toBe('in_progress');
});

test('a task is blocked until its dependencies are completed or skipped; the status blocked cannot be set [task.blocked.computed]', async () => {
  const { ok, refused, planned, completed, started, task, agent } = await workflowApp();
  const { ids } = await planned(['one', 'two', { name: 'last', depends_on: ['one', 'two'] }]);
  const last = ids.last as string;
  expect((await task(last)).status).toBe('blocked');
  expect(await refused('task_update_status', { id: ids.one, status: 'blocked' })).toMatchObject({ code: 'INVALID_TRANSITION', to: 'blocked' });
  expect(await refused('task_update_status', { id: last, status: 'planning' })).toMatchObject({ code: 'TASK_BLOCKED', blocked_by: ['one', 'two'] });
  expect(await refused('task_claim', { task_id: last, agent_id: await agent() })).toMatchObject({ code: 'TASK_BLOCKED', blocked_by: ['one', 'two'] });
  await completed(ids.one as string);
  const refusal = await refused('task_update_status', { id: last, status: 'planning' });
  expect(refusal).toMatchObject({ code: 'TASK_BLOCKED', blocked_by: ['two'] });
  expect(refusal.message).toContain('"two"');
  await started(ids.two as string);
  await ok('task_update_status', { id: ids.two, status: 'failed', error: 'no' });
  expect((await task(last)).status).toBe('blocked');
  expect(await ok('task_update_status', { id: ids.two, status: 'skipped', outcome: 'Not needed' })).toMatchObject({ changed: true, all_complete: false });
  expect((await task(last)).status).toBe('pending');
  await completed(last);
  expect(await ok('task_update_status', { id: last, status: 'completed' })).toMatchObject({ changed: false, all_complete: true });
});

test('a refusal names only a few dependencies even if a task has many', async () => {
  const { refused, planned } = await workflowApp();
  const names = Array.from({ length: 25 }, (_, i) => `t${String(i).padStart(2, '0')}`);
  const { ids } = await planned([...names, { name: 'last', depends_on: names }]);
  const refusal = await refused('task_update_status', { id: ids.last, status: 'planning' });
  expect(refusal).toMatchObject({ blocked_by: names.slice(0, 10), open_dependencies: 25 });
  expect(refusal.message).toContain('and 15 more');
});

test(`a replanned task has its new plan and a checkpoint with the old plan, and can be claimed again
  [task.replan.shape] [task.replan.checkpoint] [task.replan.replaces-plan] [task.replan.claimable]`, async () => {
  const { ok, planned, claimed, task, agent, ben, events } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one as string;
  const { agent_id, fence } = await claimed(id);
  await ok('task_update_status', { id, status: 'planning', agent_id });
  await ok('task_set_plan', { id, plan: PLAN, agent_id });
  await ok('task_update_status', { id, status: 'in_progress', agent_id });
  const new_plan = { approach: 'Another way', steps: ['Only one'], files_to_modify: ['src/c.ts'] };
  const answer = await ok('task_replan', { id, reason: 'The parser is gone', new_plan, agent_id });
  expect(answer).toEqual({ success: true, checkpoint_id: expect.stringMatching(/^cp_/) });
  expect(await task(id)).toMatchObject({ status: 'pending', plan: new_plan, outcome: null, assigned_agent_id: null, claimed_at: null, fence: fence + 1 });
  const [checkpoint] = (await ok('checkpoint_list', { task_id: id, type: ['replan'] })).checkpoints;
  expect(checkpoint).toMatchObject({ id: answer.checkpoint_id, type: 'replan', agent_id, detail: { reason: 'The parser is gone', previous_plan: PLAN } });
  expect(await ok('agent_get', { id: agent_id })).toMatchObject({ status: 'online', current_task_id: null });
  expect(await events({ kind: 'workflow.task_replanned' })).toMatchObject([{ subject: id, payload: { from: 'in_progress', to: 'pending' } }]);
  const other = await agent(ben);
  expect(await ok('task_claim', { task_id: id, agent_id: other }, ben)).toMatchObject({ success: true, fence: fence + 2 });
});

test('only a task that is failed or in progress can be replanned [task.replan.states]', async () => {
  const { ok, refused, planned, task } = await workflowApp();
  const { ids } = await planned(['one', { name: 'after', depends_on: ['one'] }]);
  const id = ids.one as string;
  const new_plan = { approach: 'Another way', steps: [] };
  const replan = (tasked: string | undefined = id) => refused('task_replan', { id: tasked, reason: 'r', new_plan });
  const no = async (from: string) =>
    expect(await replan()).toMatchObject({ code: 'INVALID_TRANSITION', from, to: 'pending', allowed_from: ['in_progress', 'failed'] });
  const move = (status: string, fields = {}) => ok('task_update_status', { id, status, ...fields });
  expect(await replan(ids.after)).toMatchObject({ code: 'INVALID_TRANSITION', from: 'blocked' });
  await no('pending');
  await move('planning');
  await no('planning');
  await move('in_progress');
  await move('paused');
  await no('paused');
  await move('in_progress');
  await move('failed', { error: 'broken', outcome_detail: { a: 1 } });
  await ok('task_replan', { id, reason: 'r', new_plan });
  expect(await task(id)).toMatchObject({ status: 'pending', error: null, outcome_detail: null, plan: new_plan });
  await move('planning');
  await move('in_progress');
  await move('completed', { outcome: 'done' });
  await no('completed');
  expect((await ok('checkpoint_list', { task_id: id, type: ['replan'] })).checkpoints).toHaveLength(1);
});

test('a long old plan is cut in the replan checkpoint', async () => {
  const { ok, planned } = await workflowApp();
  const { ids } = await planned(['one']);
  const id = ids.one;
  await ok('task_update_status', { id, status: 'planning' });
  await ok('task_set_plan', { id, plan: { approach: 'x'.repeat(20_000), steps: Array(500).fill('y'.repeat(1_000)) } });
  await ok('task_update_status', { id, status: 'in_progress' });
  await ok('task_replan', { id, reason: 'r', new_plan: { approach: 'short', steps: [] } });
  const [checkpoint] = (await ok('checkpoint_list', { task_id: id })).checkpoints;
  expect(checkpoint.detail.previous_plan).toMatchObject({ step_count: 500, truncated: true });
  expect(JSON.stringify(checkpoint).length).toBeLessThan(64 * 1024);
});

test('checkpoints are numbered within their task [checkpoint.add.shape] [checkpoint.add.types] [checkpoint.add.sequence]', async () => {
  const { ok, refused, planned, claimed, events } = await workflowApp();
  const { ids } = await planned(['one', 'two']);
  const { agent_id } = await claimed(ids.one as string);
  const types = ['plan', 'progress', 'decision', 'error', 'recovery', 'complete', 'replan'];
  for (const [index, type] of types.entries()) {
    expect(await ok('checkpoint_add', { task_id: ids.one, type, summary: `s ${type}` })).toEqual({ id: expect.stringMatching(/^cp_/), sequence: index + 1 });
  }
  const full = { task_id: ids.two, type: 'progress', summary: 'first', detail: { deep: [{ a: null }] }, files_changed: ['src/a.ts'] };
  expect((await ok('checkpoint_add', full)).sequence).toBe(1);
  expect((await ok('checkpoint_list', { task_id: ids.two })).checkpoints).toMatchObject([{ ...full, agent_id: null, sequence: 1 }]);
  expect((await ok('checkpoint_list', { task_id: ids.one })).checkpoints[0]).toMatchObject({ type: 'plan', agent_id, detail: null, files_changed: [] });
  expect(await refused('checkpoint_add', { ...full, type: 'note' })).toMatchObject({ code: 'INVALID_INPUT', field: 'type' });
  expect(await refused('checkpoint_add', { ...full, detail: { a: 'x'.repeat(70_000) } })).toMatchObject({ field: 'detail' });
  expect(await refused('checkpoint_add', { ...full, task_id: 'tk_none' })).toMatchObject({ code: 'TASK_NOT_FOUND', field: 'task_id' });
  expect(await events({ kind: 'workflow.checkpoint_added' })).toHaveLength(8);
});

test('checkpoints are listed in order, by type, after a sequence, up to a limit [checkpoint.list.shape] [checkpoint.list.type-filter] [checkpoint.list.since] [checkpoint.list.limit]', async () => {
  const { ok, refused, planned } = await workflowApp();
  const { ids } = await planned(['one']);
  const types = ['progress', 'decision', 'progress', 'error', 'progress', 'decision'];
  for (const type of types) await ok('checkpoint_add', { task_id: ids.one, type, summary: 's' });
  const list = async (args: object) => {
    const { checkpoints, more } = await ok('checkpoint_list', { task_id: ids.one, ...args });
    return [checkpoints.map(({ sequence }: { sequence: number }) => sequence), more];
  };
  expect(await list({})).toEqual([[1, 2, 3, 4, 5, 6], false]);
  expect(await list({ type: ['decision', 'error'] })).toEqual([[2, 4, 6], false]);
  expect(await list({ since_sequence: 4 })).toEqual([[5, 6], false]);
  expect(await list({ limit: 2 })).toEqual([[1, 2], true]);
  expect(await list({ limit: 2, since_sequence: 2 })).toEqual([[3, 4], true]);
  expect(await list({ limit: 2, since_sequence: 2, type: ['progress'] })).toEqual([[3, 5], false]);
  expect(await list({ since_sequence: 6 })).toEqual([[], false]);
  expect((await refused('checkpoint_list', { task_id: ids.one, limit: 0 })).field).toBe('limit');
});

test('a repeated call is accepted even if the workflow has ended since', async () => {
  const { ok, refused, planned, started, ana, agent } = await workflowApp();
  const { workflow_id, ids } = await planned([{ name: 'one' }, { name: 'two' }]);
  const agent_id = await agent(ana);
  await started(ids.one as string, ana, agent_id);
  const done = { id: ids.one, status: 'completed', outcome: 'Done', agent_id, fence: 1 };
  expect(await ok('task_update_status', done)).toMatchObject({ changed: true });
  await ok('workflow_update_status', { id: workflow_id, status: 'completed' });
  expect(await ok('task_update_status', done)).toMatchObject({ success: true, changed: false });
  expect(await refused('task_update_status', { id: ids.two, status: 'planning' })).toMatchObject({ code: 'INVALID_STATE' });
});

import { expect, test } from 'vitest';
import { type Body, workflowApp } from '../../../testing/scenes/workflow.ts';

test('the operator sees the same data of workflows as agents: the list, progress, and next, blocked and claimed tasks', async () => {
  const t = await workflowApp();
  const { workflow_id, ids } = await t.planned(['build', { name: 'test', depends_on: ['build'] }, 'write']);
  const { workflow_id: elsewhere } = await t.planned(['paint'], { workflow: { name: 'Paint it', repository_path: '/srv/paint' } });
  const held = await t.started(ids.build as string);
  const question = await t.ok('message_send', { sender_id: held.agent_id, recipient_id: 'human', message_type: 'query', body: 'x', task_id: ids.build });

  const list = async (args: object) => ((await t.done('workflows.list', args)).items as Body[]).map(({ id }) => id);
  expect(await list({})).toEqual([elsewhere, workflow_id]);
  expect(await list({ status: ['in_progress'] })).toEqual([workflow_id]);
  expect(await list({ repository_path: '/srv/paint' })).toEqual([elsewhere]);

  const shown = (await t.done('workflows.show', { workflow_id: workflow_id.slice(-10) })) as Body;
  expect(shown).toMatchObject({
    workflow: { id: workflow_id, status: 'in_progress' },
    progress: { total_tasks: 3, by_status: { paused: 1, blocked: 1, pending: 1 }, blocked_tasks: [{ name: 'test', blocked_by: ['build'] }] },
    next: { tasks: [{ name: 'write' }], all_complete: false },
  });
  expect(shown.claims).toEqual([
    {
      task_id: ids.build,
      task_name: 'build',
      status: 'paused',
      agent_id: held.agent_id,
      agent_name: 'worker',
      agent_page: expect.stringMatching(/dev_/),
      claimed_at: t.clock.now(),
      lease_expires_at: t.clock.now() + 90_000,
      question_id: question.id,
    },
  ]);
  const tasks = (await t.done('workflows.tasks', { workflow_id })) as Body;
  expect(tasks).toMatchObject({ workflow_id, total: 3 });
  expect(tasks.items.map(({ name, status }: Body) => [name, status])).toEqual([
    ['build', 'paused'],
    ['test', 'blocked'],
    ['write', 'pending'],
  ]);
  expect(await t.done('workflows.agents', {})).toMatchObject({ items: [{ id: held.agent_id, status: 'busy', developer: 'ana' }], total: 1 });
});

test('people get access by their role, agent tokens get none; the refusal of an unknown workflow names it', async () => {
  const t = await workflowApp();
  const codex = await t.developer('ana', 'codex');
  for (const name of ['workflows.list', 'workflows.agents']) {
    expect((await t.action(name, {}, codex)).body).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  }
  for (const name of ['workflows.show', 'workflows.tasks']) {
    expect((await t.action(name, { workflow_id: 'wf_0' })).body).toMatchObject({ code: 'WORKFLOW_NOT_FOUND', message: expect.stringContaining('wf_0') });
  }
});

test("people see that a private developer's agent works, but not who owns it", async () => {
  const t = await workflowApp();
  await t.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const { workflow_id, ids } = await t.planned(['build']);
  const agent = await t.agent(t.ben, { name: "ben's own" });
  await t.claimed(ids.build as string, t.ben, agent);
  const person = { ...t.ana, principal: { ...t.ana.principal, web: true } };
  const shown = [await t.done('workflows.show', { workflow_id }, person), await t.done('workflows.agents', {}, person)];
  expect(JSON.stringify(shown)).not.toContain('ben');
  expect(shown[0]).toMatchObject({ claims: [{ agent_id: '@private', agent_name: '@private' }] });
});

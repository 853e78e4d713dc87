import { expect, test } from 'vitest';
import { type Body, workflowApp } from '../../../testing/scenes/workflow.ts';

const CHAIN = ['build', { name: 'test', depends_on: ['build'] }, { name: 'deploy', depends_on: ['test', 'docs'] }, 'docs'];

async function steered() {
  const t = await workflowApp();
  const { workflow_id, ids } = await t.planned(CHAIN, { workflow: { max_parallel_tasks: 3 } });
  const act = (name: string, args: object) => t.done(`workflows.${name}`, args) as Promise<Body>;
  const refused = async (name: string, args: object, caller = t.operator) => (await t.action(`workflows.${name}`, args, caller)).body as Body;
  const failed = async (task: string): Promise<string> => {
    const held = await t.started(ids[task] as string);
    await t.ok('task_update_status', { id: ids[task], status: 'failed', error: 'It broke.', agent_id: held.agent_id });
    return ids[task] as string;
  };
  return { ...t, workflow_id, ids: ids as Record<string, string>, act, refusal: refused, failed };
}

test('the graph of a workflow has layers, holders, and the longest chain of remaining tasks', async () => {
  const t = await steered();
  await t.started(t.ids.build as string);
  const graph = await t.act('graph', { workflow_id: t.workflow_id.slice(-10) });
  const told = graph.nodes.map(({ name, layer, critical, task }: Body) => [name, layer, critical, task.status, task.agent_name]);
  expect(told).toEqual([
    ['build', 0, true, 'in_progress', 'worker'],
    ['test', 1, true, 'blocked', null],
    ['deploy', 2, true, 'blocked', null],
    ['docs', 0, false, 'pending', null],
  ]);
  expect(graph.edges).toContainEqual({ from: 1, to: 2, critical: true });
  expect(graph).toMatchObject({ workflow_id: t.workflow_id, folded: false, edges_hidden: 0, critical_length: 3, tasks: 4 });
});

test('a task shows its claim, neighbours, root blocker and question', async () => {
  const t = await steered();
  const held = await t.started(t.ids.build as string);
  const { id } = await t.ok('message_send', { sender_id: held.agent_id, recipient_id: 'human', message_type: 'query', body: 'Which?', task_id: t.ids.build });
  const build = await t.act('task', { task_id: t.ids.build });
  expect(build).toMatchObject({
    task: { name: 'build', status: 'paused' },
    workflow: { id: t.workflow_id, name: 'Ship it' },
    claim: { agent_id: held.agent_id, agent_name: 'worker', fence: held.fence, lease_expires_at: t.clock.now() + 90_000 },
    dependents: [{ name: 'test', status: 'blocked' }],
    question: { question_id: id, question: 'Which?' },
    unmet: [],
  });
  const deploy = await t.act('task', { task_id: (t.ids.deploy as string).slice(-12) });
  expect(deploy.dependencies.map(({ name }: Body) => name)).toEqual(['test', 'docs']);
  expect(deploy.unmet).toEqual([
    { id: t.ids.test, name: 'test', status: 'blocked' },
    { id: t.ids.build, name: 'build', status: 'paused' },
  ]);
  expect(deploy).toMatchObject({ claim: null, unmet_length: 2, question: null });
});

test('checkpoints are listed newest first, in pages, with their author', async () => {
  const t = await steered();
  const { agent_id } = await t.started(t.ids.build as string);
  for (const summary of ['one', 'two', 'three']) {
    await t.ok('checkpoint_add', {
      task_id: t.ids.build,
      type: 'progress',
      summary,
      files_changed: ['src/a.ts'],
      detail: { long: 'x'.repeat(5_000) },
      agent_id,
    });
  }
  const first = await t.act('checkpoints', { task_id: t.ids.build, limit: 2 });
  expect(first).toMatchObject({ more: true, items: [{ sequence: 3, summary: 'three', agent_name: 'worker', files_changed: ['src/a.ts'] }, { sequence: 2 }] });
  expect(first.items[0].detail).toMatch(/more characters\)$/);
  expect(await t.act('checkpoints', { task_id: t.ids.build, before: 2 })).toMatchObject({ more: false, items: [{ sequence: 1 }] });
});

test('the context preview contains what an agent would get, with the shares of its sections and the cuts', async () => {
  const t = await steered();
  const { max_tokens, tokens, sections, omitted, pack } = await t.act('context', { task_id: t.ids.build, max_tokens: 500 });
  expect(pack).toEqual(await t.ok('task_load_context', { task_id: t.ids.build, max_tokens: 500 }));
  expect([max_tokens, tokens, omitted]).toEqual([500, pack.token_estimate, pack.omitted]);
  expect(sections.map(({ name, share }: Body) => [name, share])).toEqual([
    ['workflow', 15],
    ['current', 55],
    ['prior', 20],
    ['related', 10],
  ]);
  const inSections = sections.reduce((sum: number, each: Body) => sum + each.tokens, 0);
  expect(Math.abs(tokens - inSections)).toBeLessThan(60);
  expect(await t.refusal('context', { task_id: t.ids.build, max_tokens: 1 })).toMatchObject({ code: 'BUDGET_TOO_SMALL' });
});

test('the timeline shows which agent held which task when, how that ended, and the status changes of the workflow', async () => {
  const t = await steered();
  const task_id = t.ids.build as string;
  const first = await t.started(task_id);
  t.clock.advance(91_000);
  const second = await t.completed(task_id);
  await t.act('pause', { workflow_id: t.workflow_id, reason: 'lunch' });
  const timeline = await t.act('timeline', { workflow_id: t.workflow_id });
  expect(
    timeline.lanes.map(({ agent_id, spans }: Body) => [agent_id, spans.map(({ end, reclaimed, task_name }: Body) => [task_name, end, reclaimed])]),
  ).toEqual([
    [first.agent_id, [['build', 'lost', false]]],
    [second.agent_id, [['build', 'completed', true]]],
  ]);
  expect(timeline.turns).toMatchObject([{ to: 'in_progress' }, { to: 'paused', reason: 'lunch' }]);
  expect(timeline).toMatchObject({ spans_more: 0, tasks_more: 0, now: t.clock.now() });
});

test('an operator can pause, resume and end a workflow and change its parallelism, by the same rules as agents and with events', async () => {
  const t = await steered();
  const { agent_id } = await t.started(t.ids.build as string);
  expect(await t.act('pause', { workflow_id: t.workflow_id })).toMatchObject({ status: 'paused', changed: true, claims: 1 });
  expect(await t.refused('task_claim', { task_id: t.ids.docs, agent_id })).toMatchObject({ code: 'INVALID_STATE' });
  expect(await t.act('pause', { workflow_id: t.workflow_id })).toMatchObject({ changed: false });
  const commands = `\`covenant workflow resume ${t.workflow_id}\` or \`covenant workflow abandon ${t.workflow_id}\``;
  expect(await t.refusal('complete', { workflow_id: t.workflow_id })).toMatchObject({ suggestion: expect.stringContaining(commands) });
  expect(await t.act('resume', { workflow_id: t.workflow_id })).toMatchObject({ status: 'in_progress', changed: true });
  expect(await t.act('set_parallelism', { workflow_id: t.workflow_id, max_parallel_tasks: 7 })).toMatchObject({ from: 3, max_parallel_tasks: 7 });
  expect(await t.act('abandon', { workflow_id: t.workflow_id, reason: 'no need' })).toMatchObject({ status: 'abandoned', claims: 0 });
  const final = { code: 'INVALID_TRANSITION', suggestion: expect.not.stringContaining('covenant workflow') };
  expect(await t.refusal('resume', { workflow_id: t.workflow_id })).toMatchObject(final);
  expect(await t.refusal('set_parallelism', { workflow_id: t.workflow_id, max_parallel_tasks: 2 })).toMatchObject({ code: 'INVALID_STATE' });
  const said = (await t.events({ kind: 'workflow.status_changed' })).map(({ actor, payload }) => [actor === t.operator.principal.actor, payload.to]);
  expect(said).toEqual([
    [false, 'in_progress'],
    [true, 'paused'],
    [true, 'in_progress'],
    [true, 'abandoned'],
  ]);
  expect(await t.task(t.ids.build as string)).toMatchObject({ assigned_agent_id: null, status: 'in_progress' });
});

test('an operator can retry or skip a failed task and release a claimed one; other changes are refused as for agents', async () => {
  const t = await steered();
  const build = await t.failed('build');
  expect(await t.act('retry', { task_id: build })).toMatchObject({ task_id: build, name: 'build', status: 'pending', changed: true });
  expect(await t.act('retry', { task_id: build })).toMatchObject({ changed: false });
  await t.failed('build');
  expect(await t.act('skip', { task_id: build, reason: 'not needed' })).toMatchObject({ status: 'skipped' });
  expect(await t.task(build)).toMatchObject({ outcome: 'not needed' });
  expect(await t.task(t.ids.test as string)).toMatchObject({ status: 'pending' });
  const held = await t.started(t.ids.test as string);
  expect(await t.refusal('skip', { task_id: t.ids.test })).toMatchObject({ code: 'NOT_ASSIGNED' });
  expect(await t.act('release', { task_id: t.ids.test })).toMatchObject({ agent_id: held.agent_id, status: 'pending' });
  expect(await t.refusal('release', { task_id: t.ids.test })).toMatchObject({ code: 'NOT_CLAIMED' });
  expect(await t.refusal('skip', { task_id: t.ids.test })).toMatchObject({ code: 'INVALID_TRANSITION' });
  const late = { task_id: t.ids.test, type: 'progress', summary: 'late', agent_id: held.agent_id, fence: held.fence };
  expect(await t.refused('checkpoint_add', late)).toMatchObject({ code: 'STALE_CLAIM' });
  expect((await t.events({ kind: 'workflow.task_released' })).at(-1)).toMatchObject({ actor: t.operator.principal.actor });
});

test('a person creates a workflow from a prompt; everybody can view, only operators can steer', async () => {
  const t = await steered();
  const made = await t.act('create', { name: 'first', prompt: 'Fix login', repository_path: '/srv/shop' });
  expect(made).toMatchObject({ name: 'first', status: 'planning', repository_path: '/srv/shop' });
  const ben = { ...t.ben, principal: { ...t.ben.principal, web: true } };
  expect((await t.done('workflows.list', { repository: 'shop' }, ben)).items).toMatchObject([{ id: made.id, by_status: { pending: 0 }, questions: 0 }]);
  for (const name of ['pause', 'resume', 'complete', 'abandon']) {
    expect(await t.refusal(name, { workflow_id: t.workflow_id }, ben)).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  }
  for (const name of ['retry', 'skip', 'release']) {
    expect(await t.refusal(name, { task_id: t.ids.build }, ben)).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  }
  expect(await t.done('workflows.task', { task_id: t.ids.build }, ben)).toMatchObject({ task: { name: 'build' } });
});

test("people see that a private developer's agent works, but not who owns it", async () => {
  const t = await steered();
  await t.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const agent = await t.agent(t.ben, { name: "ben's own" });
  const build = t.ids.build as string;
  await t.started(build, t.ben, agent);
  await t.ok('checkpoint_add', { task_id: build, type: 'progress', summary: 'x', agent_id: agent }, t.ben);
  const ana = { ...t.ana, principal: { ...t.ana.principal, web: true } };
  const { workflow_id } = t;
  const looks = { graph: { workflow_id }, timeline: { workflow_id }, task: { task_id: build }, checkpoints: { task_id: build }, tasks: { workflow_id } };
  for (const [name, args] of Object.entries(looks)) {
    const seen = JSON.stringify(await t.done(`workflows.${name}`, args, ana));
    expect(seen, name).toContain('@private');
    expect(seen, name).not.toContain("ben's");
  }
});

test('tasks of a workflow are filtered by shown status and text in their names, and listed with their holders', async () => {
  const t = await steered();
  await t.started(t.ids.build as string);
  const names = async (...status: string[]) => (await t.act('tasks', { workflow_id: t.workflow_id, status })).items.map(({ name }: Body) => name);
  expect(await names('pending')).toEqual(['docs']);
  expect(await names('blocked')).toEqual(['test', 'deploy']);
  expect(await names('in_progress', 'pending')).toEqual(['build', 'docs']);
  expect((await t.act('tasks', { workflow_id: t.workflow_id, text: 'DOC' })).items).toMatchObject([{ name: 'docs' }]);
  expect((await t.act('tasks', { workflow_id: t.workflow_id, text: '%' })).total).toBe(0);
  expect((await t.act('tasks', { workflow_id: t.workflow_id })).items[0]).toMatchObject({ name: 'build', agent_name: 'worker' });
});

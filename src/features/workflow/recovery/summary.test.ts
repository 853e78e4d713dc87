import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { type Body, workflowApp } from '../../../testing/scenes/workflow.ts';

const measured = (summary: unknown) => countTokens(typeof summary === 'string' ? summary : JSON.stringify(summary), { disallowedSpecial: new Set() });

/** A workflow with one task in each status and one task that waits for a person. */
async function underWay() {
  const app = await workflowApp();
  // The summary must contain nothing from another workflow.
  const other = await app.planned(['done', 'running', 'free']);
  await app.completed(other.ids.done as string);
  await app.started(other.ids.running as string);
  const { ids, workflow_id } = await app.planned(['done', 'running', 'broken', 'asking', { name: 'waiting', depends_on: ['running'] }, 'free'], {
    workflow: { source_ref: 'https://example.org/1' },
  });
  const { ok } = app;
  await app.completed(ids.done as string);
  const running = await app.started(ids.running as string);
  const broken = await app.started(ids.broken as string);
  await ok('task_update_status', { id: ids.broken, status: 'failed', error: 'The disk is\nfull', agent_id: broken.agent_id });
  const asking = await app.started(ids.asking as string);
  const question = await ok('message_send', {
    sender_id: asking.agent_id,
    recipient_id: 'human',
    message_type: 'query',
    body: 'Which colour?',
    task_id: ids.asking,
  });
  return { ...app, ids, workflow_id, running, asking, question };
}

test('a summary is an object by default, and shows the state of the workflow [workflow.summary.shape] [workflow.summary.format-default]', async () => {
  const { ids, ok, workflow_id, running, asking, question, claimed } = await underWay();
  const answer = await ok('workflow_get_summary', { id: workflow_id });
  expect(Object.keys(answer).sort()).toEqual(['omitted', 'summary', 'token_estimate']);
  expect(answer.summary).toEqual({
    id: workflow_id,
    name: 'Ship it',
    status: 'in_progress',
    source_type: 'prompt',
    source_ref: 'https://example.org/1',
    repository_path: '/srv/app',
    plan_summary: 'What to do',
    progress: { total: 6, by_status: { pending: 1, blocked: 1, planning: 0, in_progress: 1, paused: 1, completed: 1, failed: 1, skipped: 0 } },
    open_questions: [{ id: question.id, task_id: ids.asking, question: 'Which colour?' }],
    current: expect.arrayContaining([
      { id: ids.running, name: 'running', status: 'in_progress', agent_id: running.agent_id, agent_name: 'worker' },
      { id: ids.asking, name: 'asking', status: 'paused', agent_id: asking.agent_id, agent_name: 'worker' },
    ]),
    next: [{ id: ids.free, name: 'free' }],
    blocked: 1,
    failed: [{ id: ids.broken, name: 'broken', error: 'The disk is full' }],
    recent_outcomes: [{ id: ids.done, name: 'done', outcome: 'done' }],
  });
  expect(answer.omitted).toEqual([]);
  expect(answer.token_estimate).toBe(measured(answer.summary));
  await claimed(ids.free as string);
  expect((await ok('workflow_get_summary', { id: workflow_id })).summary.next).toEqual([]);
});

test('markdown is a page with the same content [workflow.summary.markdown]', async () => {
  const { ids, ok, workflow_id, running, question } = await underWay();
  const { summary, token_estimate } = await ok('workflow_get_summary', { id: workflow_id, format: 'markdown' });
  expect(summary).toMatch(/^# Ship it\n/);
  expect(summary).toContain(`- Workflow ${workflow_id}: in_progress\n`);
  expect(summary).toContain('- Tasks: 6 (1 pending, 1 blocked, 1 in_progress, 1 paused, 1 completed, 1 failed)');
  expect(summary).toContain('## Plan\n\nWhat to do\n');
  expect(summary).toContain(`## Waiting for a person\n\n- ${question.id}: Which colour?\n`);
  expect(summary).toContain(`- running (${ids.running}, in_progress, held by worker ${running.agent_id})`);
  expect(summary).toContain(`## Next\n\n- free (${ids.free})\n`);
  expect(summary).toContain(`## Failed\n\n- broken (${ids.broken}): The disk is full\n`);
  expect(summary).toContain(`## Last completed\n\n- done (${ids.done}): done\n`);
  expect(token_estimate).toBe(measured(summary));
});

test('text of agents cannot create markup on the page', async () => {
  const { ok, planned } = await workflowApp();
  const { workflow_id } = await planned(['# <b>bold</b> [x](y)'], { plan: { summary: 'one\n\n## Next\n\ntwo @~/.netrc' } });
  const { summary } = await ok('workflow_get_summary', { id: workflow_id, format: 'markdown' });
  expect(summary).toContain('one \\#\\# Next two \\@\\~/.netrc');
  expect(summary).toContain('- \\# \\<b\\>bold\\</b\\> \\[x\\](y)');
  expect(summary.match(/^## /gm)).toHaveLength(2);
});

test('the task that was completed last comes first, even if other tasks were changed later', async () => {
  const app = await workflowApp();
  const { ids, workflow_id } = await app.planned(['first', 'second']);
  for (const name of ['first', 'second']) {
    await app.completed(ids[name] as string);
    app.clock.advance(1_000);
  }
  await app.ok('checkpoint_add', { task_id: ids.first, type: 'progress', summary: 'An afterthought' });
  const { recent_outcomes } = (await app.ok('workflow_get_summary', { id: workflow_id })).summary;
  expect(recent_outcomes.map(({ name }: Body) => name)).toEqual(['second', 'first']);
});

test('a summary stays within its budget in both formats, lists what was cut, and is refused if even the names do not fit', async () => {
  const { ok, planned, refused } = await workflowApp();
  const tasks = Array.from({ length: 40 }, (_, at) => ({ name: `Task ${at} ${'long name '.repeat(8)}`, sequence: 1 }));
  const { workflow_id } = await planned(tasks, { plan: { summary: 'Words upon words. '.repeat(100) } });
  for (const format of ['json', 'markdown']) {
    for (const max_tokens of [300, 500, 5_000]) {
      const answer: Body = await ok('workflow_get_summary', { id: workflow_id, format, max_tokens });
      expect(measured(answer.summary)).toBe(answer.token_estimate);
      expect(answer.token_estimate).toBeLessThanOrEqual(max_tokens);
      expect(answer.omitted.length > 0).toBe(max_tokens < 5_000);
      expect(await ok('workflow_get_summary', { id: workflow_id, format, max_tokens })).toEqual(answer);
    }
  }
  const refusal = await refused('workflow_get_summary', { id: workflow_id, max_tokens: 100 });
  expect(refusal).toMatchObject({ code: 'BUDGET_TOO_SMALL', minimum: expect.any(Number) });
  await ok('workflow_get_summary', { id: workflow_id, max_tokens: refusal.minimum });
  expect(await refused('workflow_get_summary', { id: workflow_id, max_tokens: 99 })).toMatchObject({ code: 'INVALID_INPUT', field: 'max_tokens' });
  expect(await refused('workflow_get_summary', { id: 'wf_none' })).toMatchObject({ code: 'WORKFLOW_NOT_FOUND' });
});

test('a workflow without a plan has a summary too', async () => {
  const { ok } = await workflowApp();
  const { id } = await ok('workflow_create', { name: 'New', source_type: 'prompt', source_content: 'x', repository_path: '/srv/app' });
  const { summary } = await ok('workflow_get_summary', { id });
  expect(summary).toMatchObject({ status: 'planning', plan_summary: null, progress: { total: 0 }, next: [], current: [] });
});

test("a private developer's agent is not named to others", async () => {
  const { app, ben, ok, planned, started } = await workflowApp();
  const { ids, workflow_id } = await planned(['one']);
  await started(ids.one as string, ben);
  await app.store.write(ben.principal.workspace, (tx) => tx.db.updateTable('developers').set({ visibility: 'private' }).where('name', '=', 'ben').execute());
  const holder = async (caller?: typeof ben) => (await ok('workflow_get_summary', { id: workflow_id }, caller)).summary.current[0];
  expect(await holder()).toMatchObject({ agent_id: '@private', agent_name: '@private' });
  expect(await holder(ben)).toMatchObject({ agent_name: 'worker' });
});

import { expect, test } from 'vitest';
import { covenant, direct, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

type Fields = Record<string, unknown>;

/** Starts a server with an agent that is working on a task and has asked people a question. */
async function place() {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const run = (...args: string[]) => covenant(at, ...args);
  const { token } = (await run('tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json')).json;
  const call = async (tool: string, args: Fields) => (await direct(server.url, String(token), tool, args)).body as Fields;
  const { id: workflow } = await call('workflow_create', { name: 'Ship it', source_type: 'prompt', source_content: 'x', repository_path: '/srv/app' });
  const tasks = [
    { name: 'build', description: '', sequence: 1 },
    { name: 'test', description: '', sequence: 2, depends_on: ['build'] },
  ];
  await call('workflow_set_plan', { id: workflow, plan: { summary: 's', approach: 'a', tasks } });
  const { tasks: next } = (await call('workflow_next_tasks', { workflow_id: workflow })) as { tasks: { id: string }[] };
  const task = next[0]?.id;
  const { id: agent } = await call('agent_register', { name: 'builder', runtime: 'codex' });
  await call('task_claim', { task_id: task, agent_id: agent });
  for (const status of ['planning', 'in_progress']) await call('task_update_status', { id: task, status, agent_id: agent });
  const body = 'Which port?\u001b[31m';
  const { id: question } = await call('message_send', { sender_id: agent, recipient_id: 'human', message_type: 'query', body, task_id: task });
  return { server, run, call, workflow: String(workflow), task: String(task), agent: String(agent), question: String(question) };
}

test('prints open questions in full, and an answer lets the waiting task continue', async () => {
  const { run, call, task, agent, question } = await place();
  expect(await call('task_get', { id: task })).toMatchObject({ status: 'paused', question_id: question });
  for (const command of [
    ['messages', 'list', '--kind', 'question'],
    ['workflow', 'questions'],
  ]) {
    const { stdout } = await run(...command);
    expect(stdout).toContain(question);
    expect(stdout).toMatch(/builder[\s\S]*Which port\?[\s\S]*task build, workflow Ship it/);
    // Text from an agent must not control the terminal.
    expect(stdout).not.toContain('\u001b');
  }
  expect((await run('messages', 'list', '--kind', 'question')).stdout).toContain(`next: covenant messages answer ${question} TEXT`);
  const answered = await run('workflow', 'answer', question.slice(-8), 'Take 8080.', '--json');
  expect(answered.code).toBe(0);
  expect(answered.json).toMatchObject({ kind: 'question_answered', question_id: question, task_id: task, task_status: 'in_progress' });
  expect(await call('task_get', { id: task })).toMatchObject({ status: 'in_progress', question_id: null });
  expect(await call('message_list', { agent_id: agent })).toMatchObject({ messages: [{ sender_id: 'human', body: 'Take 8080.', reply_to_id: question }] });
  expect(await run('workflow', 'answer', question, 'again')).toMatchObject({ code: 1, stderr: expect.stringContaining('is already answered') });
  expect((await run('workflow', 'answer', 'nothing', 'x', '--json')).json).toMatchObject({ kind: 'error', code: 'QUESTION_NOT_FOUND' });
  expect(await run('workflow', 'answer', question)).toMatchObject({ code: 2 });
  expect((await run('workflow', 'questions')).stdout).toBe('No agent waits for an answer.\n');
  expect((await run('messages', 'list', '--kind', 'question')).stdout).toMatch(new RegExp(`^No agent waits for an answer\\.\n\nID [\\s\\S]*${question}`));
  expect((await run('workflow', 'questions', '--answered', '--json')).json).toMatchObject({
    kind: 'question_list',
    items: [{ question_id: question, answer: 'Take 8080.' }],
  });
});

test('covenant workflow shows the work of agents as text and as JSON, with and without a server', async () => {
  const { run, server, workflow, task, agent, question } = await place();
  const list = async (...args: string[]) => (await run('workflow', 'list', ...args, '--json')).json;
  expect(await list()).toMatchObject({ kind: 'workflow_list', items: [{ id: workflow, status: 'in_progress' }], total: 1 });
  expect(await list('--status', 'completed,failed')).toMatchObject({ items: [] });
  expect(await list('--repo', '/srv/app')).toMatchObject({ items: [{ id: workflow }] });
  expect((await run('workflow', 'list', '--repository', '/srv/other')).stdout).toBe('No workflow matches.\n');
  expect((await run('workflow', 'list', '--status', 'running')).code).toBe(1);
  const shown = (await run('workflow', 'show', workflow.slice(-8))).stdout;
  expect(shown).toMatch(/Ship it[\s\S]*2 tasks: 1 blocked, 1 paused[\s\S]*Blocked[\s\S]*test: waits for build/);
  expect(shown).toContain(`build: paused, by builder (${agent})`);
  expect((await run('workflow', 'tasks', workflow, '--json')).json).toMatchObject({
    kind: 'workflow_task_list',
    items: [
      { id: task, name: 'build' },
      { name: 'test', status: 'blocked' },
    ],
  });
  expect((await run('workflow', 'agents', '--json')).json).toMatchObject({ kind: 'agent_list', items: [{ id: agent, name: 'builder', developer: 'ana' }] });
  for (const [command, id] of [
    [['list'], workflow],
    [['tasks', workflow], task],
    [['agents'], agent],
  ] as const) {
    expect((await run('workflow', ...command)).stdout).toContain(id);
  }
  await server.stop();
  expect((await run('workflow', 'show', workflow, '--json')).json).toMatchObject({
    kind: 'workflow',
    workflow: { id: workflow },
    progress: { total_tasks: 2 },
  });
  expect((await run('workflow', 'answer', question, 'Take 8080.', '--json')).json).toMatchObject({ kind: 'question_answered', task_status: 'in_progress' });
});

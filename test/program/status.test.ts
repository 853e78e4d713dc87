import { expect, test } from 'vitest';
import { covenant, direct, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

type Fields = Record<string, unknown>;

test('covenant status shows waiting items with their commands, agents and workflows, and the commands work', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const run = (...args: string[]) => covenant(at, ...args);
  expect((await run('status')).stdout).toMatch(/^Waiting on you 0\nAgents 0 {2}next: covenant connect claude-code\nWorkflows 0\n$/);

  const { token } = (await run('tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json')).json;
  const call = async (tool: string, args: Fields) => (await direct(server.url, String(token), tool, args)).body as Fields;
  const { id: workflow } = await call('workflow_create', { name: 'Ship it', source_type: 'prompt', source_content: 'x', repository_path: '/srv/app' });
  const tasks = [1, 2, 3].map((sequence) => ({ name: `step ${sequence}`, description: '', sequence }));
  await call('workflow_set_plan', { id: workflow, plan: { summary: 's', approach: 'a', tasks } });
  const { tasks: next } = (await call('workflow_next_tasks', { workflow_id: workflow })) as { tasks: { id: string }[] };
  const { id: agent } = await call('agent_register', { name: 'builder', runtime: 'codex' });
  await call('task_claim', { task_id: next[0]?.id, agent_id: agent });
  for (const status of ['planning', 'in_progress']) await call('task_update_status', { id: next[0]?.id, status, agent_id: agent });
  const words = { sender_id: agent, recipient_id: 'human', message_type: 'query', body: 'Drop the\nlegacy table?\u001b[31m' };
  const { id: question } = (await call('message_send', words)) as { id: string };

  const { stdout } = await run('status');
  const lines = stdout.split('\n');
  expect(lines[0]).toBe('Waiting on you 1');
  expect(lines[1]).toMatch(/^ {2}◆ codex@ana asks: Drop the legacy table\?\\u001b\[31m {2}\d+ s {2}covenant messages answer \S{6}$/);
  expect(lines[2]).toBe('Agents 1');
  expect(lines[3]).toMatch(/^ {2}◆ codex@ana {2}waiting {4}.* {2}\d+ s$/);
  expect(lines[4]).toBe('Workflows 1  Ship it 0/3, 1 running');
  expect(stdout).not.toContain('\u001b');
  expect((await run('status', '--json')).json).toMatchObject({
    kind: 'status',
    url: server.url,
    waiting: { items: [{ kind: 'question', id: question, who: 'codex@ana' }], cut: false },
    agents: { items: [{ name: 'codex@ana', state: 'waiting' }], total: 1 },
    workflows: { items: [{ id: workflow }], total: 1 },
  });
  expect((await run('status', '--verbose')).stdout).toContain(`Server     ${server.url}, version `);

  const command = lines[1]?.split('  covenant ')[1]?.split(' ') as string[];
  expect(await run(...command, 'No.')).toMatchObject({ code: 0 });
  expect((await run('status')).stdout).toContain('Waiting on you 0');

  server.child.kill('SIGSTOP');
  expect((await run('status')).stdout).toMatch(/^✗ The server at \S+ \(process \d+\) does not answer\.\n {4}next: covenant doctor\nWaiting on you 0\n/);
  server.child.kill('SIGCONT');

  await server.stop();
  const without = await run('status');
  expect(without).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/No server is running, so agents cannot connect\.\n {4}next: covenant up\nWaiting on you 0\nAgents 1\n/),
  });
  expect((await run('status', '--json')).json).toMatchObject({ url: null });
});

import { expect, test } from 'vitest';
import { covenant, direct, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { until } from '../../src/testing/until.ts';

type Item = { approval_id: string; arguments: string };

test('lists, approves and rejects calls of an agent at the command line, and shows the terms of grants', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const run = (...args: string[]) => covenant(at, ...args);
  const { json: ana } = await run('tokens', 'create', '--developer', 'ana', '--agent', 'codex', '--json');
  const scope = '{"approve":true,"max_per_minute":5}';
  expect(await run('capabilities', 'grant', 'tool.call.echo', '--token', String(ana.token_id), '--scope', scope)).toMatchObject({ code: 0 });
  expect((await run('capabilities', 'list')).stdout).toMatch(/tool\.call\.echo +live +5 a minute, each call approved by a person\n/);
  expect((await run('capabilities', 'grant', 'tool.call.echo', '--scope', '{"max_per_minute":0}', '--json')).json).toMatchObject({
    kind: 'error',
    code: 'INVALID_INPUT',
    message: expect.stringContaining('scope.max_per_minute'),
  });
  expect((await run('approvals', 'list')).stdout).toBe('No call waits for approval.\n');
  const call = (text: string) => direct(server.url, String(ana.token), 'echo', { text });
  const waiting = () =>
    until(async () => {
      const { json } = await run('approvals', 'list', '--json');
      expect(json).toMatchObject({ kind: 'approval_list', items: [{ name: 'echo', agent: 'codex', developer: 'ana', status: 'waiting' }], cut: false });
      return (json.items as Item[])[0] as Item;
    });

  const good = call('hi \u001b[2Jthere');
  const { approval_id } = await waiting();
  const { stdout } = await run('approvals', 'list');
  expect(stdout).toContain(`${approval_id}  waiting\n  tool echo, requested by codex of ana`);
  expect(stdout).toContain('arguments: {"text":"hi \\u001b[2Jthere"}');
  expect((await run('approvals', 'approve', approval_id.slice(-8), '--json')).json).toMatchObject({
    kind: 'approval_approved',
    approval_id,
    decided_by: 'operator',
    decided_through: 'cli',
  });
  expect((await good).body).toMatchObject({ isError: false });
  expect((await run('approvals', 'approve', approval_id, '--json')).json).toMatchObject({
    kind: 'error',
    code: 'APPROVAL_CLOSED',
    message: expect.stringContaining('was approved by operator through cli'),
  });

  const bad = call('rm -rf');
  const refused = await run('approvals', 'refuse', (await waiting()).approval_id, '--reason', 'Not today.');
  expect(refused).toMatchObject({ code: 0, stdout: expect.stringContaining('Rejected tool echo') });
  expect((await bad).body).toMatchObject({ data: { code: 'APPROVAL_REFUSED', reason: 'Not today.' } });
  expect((await run('approvals', 'list', '--status', 'refused')).stdout).toContain('reason: Not today.');
  expect((await run('capabilities', 'grant', 'resource.read.far')).code).toBe(0);
  expect((await run('capabilities', 'revoke', 'resource.read.far')).code).toBe(0);
  expect((await run('approvals', 'approve')).code).toBe(2);
});

test('without a server, the command decides a call that waits in another process', async () => {
  const at = { home: temporaryFolder() };
  const run = (...args: string[]) => covenant(at, ...args);
  await run('capabilities', 'grant', 'tool.call.echo', '--scope', '{"approve":true}');
  const call = run('tools', 'call', 'echo', '--args', '{"text":"hi"}');
  const { approval_id } = await until(async () => {
    const { json } = await run('approvals', 'list', '--json');
    expect(json.items).toHaveLength(1);
    return (json.items as Item[])[0] as Item;
  });
  expect((await run('approvals', 'approve', approval_id)).code).toBe(0);
  expect(await call).toMatchObject({ code: 0, stdout: 'hi\n' });
});

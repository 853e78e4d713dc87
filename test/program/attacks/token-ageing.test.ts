import { expect, test } from 'vitest';
import { covenant, direct, startProgram } from '../../../src/testing/programs/program.ts';
import { signInBy } from '../../../src/testing/scenes/signin.ts';
import { temporaryFolder } from '../../../src/testing/store/database.ts';

const DAY_MS = 24 * 3_600_000;

test('an agent token that leaked long ago has expired; a token that leaked today ends with a rotation, and its agent continues [harden.token.lifetime] [harden.token.rotate] [harden.token.rotate-overlap] [harden.token.list-expiry]', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const run = async (...args: string[]) => (await covenant(at, ...args, '--json')).json;
  const made = await run('tokens', 'create', '--developer', 'ana', '--agent', 'codex');
  const leaked = String(made.token);
  const { items } = (await run('tokens', 'list')) as { items: { token_id: string; expires_at: number | null }[] };
  const expires = items.find(({ token_id }) => token_id === made.token_id)?.expires_at ?? 0;
  expect(Math.abs(expires - Date.now() - 90 * DAY_MS)).toBeLessThan(60_000);
  expect(items.every((item) => 'expires_at' in item)).toBe(true);

  const call = async (token: unknown, tool: string, args: object = {}) => await direct(server.url, String(token), tool, args as Record<string, unknown>);
  const body = async (token: unknown, tool: string, args: object) => (await call(token, tool, args)).body as Record<string, string>;
  const { id: workflow_id } = await body(leaked, 'workflow_create', {
    name: 'Ship it',
    source_type: 'prompt',
    source_content: 'x',
    repository_path: '/srv/app',
  });
  await body(leaked, 'workflow_set_plan', { id: workflow_id, plan: { summary: 's', approach: 'a', tasks: [{ name: 'build', description: '', sequence: 1 }] } });
  const { tasks } = (await call(leaked, 'workflow_next_tasks', { workflow_id })).body as unknown as { tasks: { id: string }[] };
  const id = tasks[0]?.id;
  const { id: agent_id } = await body(leaked, 'agent_register', { name: 'builder', runtime: 'codex' });
  const { fence } = await body(leaked, 'task_claim', { task_id: id, agent_id });

  const kept = await run('tokens', 'rotate', String(made.token_id));
  expect(kept).toMatchObject({ kind: 'token_rotated', token: expect.stringMatching(/^cv_/), token_id: made.token_id, old_ends_at: expect.any(Number) });
  expect(Math.abs(Number(kept.old_ends_at) - Date.now() - DAY_MS)).toBeLessThan(60_000);
  expect([(await call(leaked, 'clock')).status, (await call(kept.token, 'clock')).status]).toEqual([200, 200]);
  const cut = await run('tokens', 'rotate', String(made.token_id), '--overlap-minutes', '0');
  expect([(await call(leaked, 'clock')).status, (await call(kept.token, 'clock')).status, (await call(cut.token, 'clock')).status]).toEqual([401, 401, 200]);
  for (const status of ['planning', 'in_progress']) await body(cut.token, 'task_update_status', { id, status, agent_id, fence });
  const done = await body(cut.token, 'task_update_status', { id, status: 'completed', outcome: 'built', agent_id, fence });
  expect(done).toMatchObject({ success: true, all_complete: true });
});

test('covenant status and covenant doctor warn of an agent token that expires within 7 days, with the command to run [harden.token.expiry-warning]', async () => {
  const at = { home: temporaryFolder() };
  await startProgram(at);
  const create = (...args: string[]) => covenant(at, 'tokens', 'create', '--developer', 'ana', ...args, '--json');
  await create('--agent', 'codex');
  await create('--expires-in-minutes', '60');
  expect((await covenant(at, 'status')).stdout).not.toContain('expire');
  const { token_id } = (await create('--agent', 'claude-code', '--label', 'laptop', '--expires-in-minutes', String(7 * 24 * 60 - 5))).json;
  const { stdout } = await covenant(at, 'status');
  expect(stdout).toContain('Tokens that expire soon 1\n');
  expect(stdout).toContain(`laptop of ana  expires in 6 days  covenant tokens rotate ${token_id}`);
  expect((await covenant(at, 'status', '--json')).json).toMatchObject({ expiring_tokens: [{ token_id, label: 'laptop', developer: 'ana' }] });
  const { items: findings } = (await covenant(at, 'doctor', '--json')).json as { items: { code?: string }[] };
  expect(findings.filter(({ code }) => code === 'TOKEN_EXPIRING')).toMatchObject([
    { state: 'warning', message: expect.stringContaining('laptop of ana'), fix: `covenant tokens rotate ${token_id}` },
  ]);
});

test('covenant developers signout ends all dashboard sessions of a person', async () => {
  const at = { home: temporaryFolder() };
  const server = await startProgram(at);
  const { action, body } = await signInBy(server.signinUrl);
  const { name } = body.developer as { name: string };
  expect((await covenant(at, 'developers', 'signout', name, '--json')).json).toEqual({ kind: 'developer_signed_out', developer: name, sessions: 1 });
  expect((await action('identity.me')).status).toBe(401);
});

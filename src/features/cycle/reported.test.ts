import { expect, test } from 'vitest';
import { waiting } from '../../testing/scenes/approvals.ts';
import { brokerRepository, cycleApp } from '../../testing/scenes/cycle.ts';

test('grants and approvals apply to a repository that the client reports as they do to a repository that the call names', async () => {
  const app = await cycleApp();
  const other = brokerRepository();
  const cara = await app.developer('cara');
  const action = 'tool.call.cycle.start';
  await app.done('capabilities.revoke', { action: 'toolset.cycle', token: cara.tokenId });
  const start = (repository: string) =>
    app.app.dispatch.tool({ name: 'cycle.start', args: { feature: 'x' }, principal: cara.principal, surface: 'mcp', repository });

  const allow = [{ feature: 'x', repository_path: app.repository }];
  await app.done('capabilities.grant', { action, token: cara.tokenId, scope: { arguments: { allow } } });
  expect((await start(other)).body).toMatchObject({ error: { code: 'CAPABILITY_DENIED' } });
  expect((await start(app.repository)).isError).toBe(false);
  await app.done('cycles.cancel', { repository_path: app.repository, reason: 'again' });

  await app.done('capabilities.revoke', { action, token: cara.tokenId });
  await app.done('capabilities.grant', { action, token: cara.tokenId, scope: { approve: true } });
  const here = start(app.repository);
  const asked = await waiting(app);
  expect(JSON.parse(String(asked.arguments))).toEqual({ feature: 'x', repository_path: app.repository });
  const there = start(other);
  const second = await waiting(app, 2);
  await app.done('approvals.approve', { approval_id: asked.approval_id });
  await app.done('approvals.refuse', { approval_id: second.approval_id });
  expect((await here).isError).toBe(false);
  expect((await there).isError).toBe(true);
});

test('a grant can name the other arguments of a tool with secrets, without the secrets', async () => {
  const app = await cycleApp();
  const cara = await app.developer('cara');
  await app.done('capabilities.revoke', { action: 'toolset.cycle', token: cara.tokenId });
  const allow = [{ role: 'gemini', psk: '[redacted]', repository_path: app.repository }];
  await app.done('capabilities.grant', { action: 'tool.call.session.open', token: cara.tokenId, scope: { arguments: { allow } } });
  await app.open('gemini', cara);
  expect((await app.refused('session.open', { role: 'codex', psk: 'CODEX_SECRET' }, cara)).code).toBe('CAPABILITY_DENIED');
});

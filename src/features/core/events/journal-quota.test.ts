import { expect, test } from 'vitest';
import { type TestAppOptions, testApp } from '../../../testing/app.ts';
import { until } from '../../../testing/until.ts';

const quotaOf = async (journal_events_per_day: number, more: TestAppOptions = {}) => {
  const t = await testApp({ ...more, limits: { journal_events_per_day } });
  const ana = more.database ? undefined : await t.developer('ana', 'codex');
  return { ...t, ana: ana as NonNullable<typeof ana> };
};

test('a token over its quota is refused with a clear message; its refusals are counted in one event a minute and add no event each [harden.quota.journal] [team.log.usage-event-per-call]', async () => {
  const { tool, ana, events, clock, developer } = await quotaOf(20);
  const outcomes: string[] = [];
  for (let i = 0; i < 30; i++) outcomes.push((await tool('clock', {}, ana)).reply.status);
  // Each call writes a check and a usage event.
  expect(outcomes.filter((status) => status === 'ok')).toHaveLength(10);
  expect((await tool('clock', {}, ana)).reply).toMatchObject({
    status: 'error',
    code: 'JOURNAL_QUOTA_EXCEEDED',
    message: expect.stringContaining('20 events'),
    next: expect.stringContaining('00:00 UTC'),
  });
  expect(await events({ kind: 'clock' })).toHaveLength(10);
  // Other tokens are not refused.
  expect((await tool('clock', {}, await developer('ben'))).reply.status).toBe('ok');
  clock.advance(61_000);
  await until(async () =>
    expect((await events({ kind: 'requests_refused' })).map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ token_id: ana.tokenId, count: 21, codes: { JOURNAL_QUOTA_EXCEEDED: 21 } }),
    ]),
  );
  clock.advance(24 * 3_600_000);
  expect((await tool('clock', {}, ana)).reply.status).toBe('ok');
});

test('a used-up quota refuses no heartbeat, release, completion, checkpoint or hand-off, and no call that stops a token [harden.quota.journal]', async () => {
  const { app, tool, ana, done } = await quotaOf(1);
  await tool('clock', {}, ana);
  expect((await tool('covibe_task', { operation: 'check', title: 'x' }, ana)).reply).toMatchObject({ code: 'JOURNAL_QUOTA_EXCEEDED' });
  const essential = [
    ['agent_heartbeat', {}],
    ['covibe_session', { operation: 'heartbeat' }],
    ['covibe_session', { operation: 'end' }],
    ['covibe_coordination', { operation: 'release' }],
    ['covibe_coordination', { operation: 'handoff' }],
    ['covibe_coordination', { operation: 'accept_handoff' }],
    ['covibe_task', { operation: 'complete' }],
    ['covibe_workstream', { operation: 'complete' }],
    ['task_release', {}],
    ['task_update_status', {}],
    ['checkpoint_add', {}],
    ['handoff.write', {}],
    ['cycle.complete', {}],
    ['request_review', {}],
    ['send_feedback', {}],
  ] as const;
  for (const [name, args] of essential) {
    const { reply } = await tool(name, args, ana);
    // The call reaches the tool, which reports the missing fields.
    expect([name, args, 'code' in reply && reply.code]).not.toContain('JOURNAL_QUOTA_EXCEEDED');
  }
  const hear = await app.dispatch.action({ name: 'hooks.hear', args: {}, principal: ana.principal, surface: 'api' });
  expect(hear.reply).not.toMatchObject({ code: 'JOURNAL_QUOTA_EXCEEDED' });
  await done('tokens.revoke', { token_id: ana.tokenId });
});

test('over the quota, a refused essential call is counted and not journaled', async () => {
  const { app, tool, ana, events, operator } = await quotaOf(1);
  await tool('clock', {}, ana);
  const before = (await events()).length;
  for (let i = 0; i < 5; i++) await tool('checkpoint_add', { junk: 1 }, ana);
  await app.dispatch.action({ name: 'hooks.hear', args: { x: 1 }, principal: ana.principal, surface: 'api' });
  expect((await events()).length).toBe(before);
  // The operator's own calls in another workspace count too.
  await app.dispatch.action({ name: 'tokens.create', args: { developer: 'zoe' }, principal: operator.principal, surface: 'cli', workspace: 'shop' });
  const there = () => app.dispatch.tool({ name: 'clock', args: {}, principal: operator.principal, surface: 'cli', workspace: 'shop' });
  expect((await there()).reply).toMatchObject({ code: 'JOURNAL_QUOTA_EXCEEDED' });
});

test('several servers with one database count together, even after a restart', async () => {
  const one = await quotaOf(40);
  const other = await quotaOf(40, { database: one.database, clock: one.clock });
  for (let i = 0; i < 12; i++) await one.tool('clock', {}, one.ana);
  one.clock.advance(6_000);
  await until(async () => expect(await one.app.store.reader.selectFrom('journal_growth').select('events').execute()).toEqual([{ events: 24 }]));
  const statuses: string[] = [];
  for (let i = 0; i < 12; i++) statuses.push((await other.tool('clock', {}, one.ana)).reply.status);
  expect(statuses.filter((status) => status === 'ok')).toHaveLength(8);
});

test('a malformed request of a known caller counts towards its quota', async () => {
  const { ana, serve, events } = await quotaOf(5);
  const { url } = await serve();
  const headers = { authorization: `Bearer ${ana.token}` };
  for (let i = 0; i < 20; i++) expect((await fetch(`${url}/api/mcp`, { method: 'POST', headers, body: '{' })).status).toBe(400);
  expect(await events({ kind: 'malformed_request' })).toHaveLength(5);
});

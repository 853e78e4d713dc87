import { expect, test } from 'vitest';
import { type TestCaller, testApp } from '../../../testing/app.ts';
import type { AskView } from './contract.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const repo = 'github.com/acme/app';

async function team() {
  const app = await testApp();
  const [ana, mira] = [await app.developer('ana', 'claude-code'), await app.developer('mira', 'codex')];
  const call = async (operation: string, input: object, by: TestCaller) => (await app.tool('covibe_coordination', { operation, ...input }, by)).reply;
  return { ...app, ana, mira, call };
}

test('an announcement is recorded as a work event with its session, and listed for the team [coordination.announce.recorded]', async () => {
  const { ana, call, events, mira, tool } = await team();
  const { session_id } = (await tool('covibe_session', { operation: 'start' }, ana)).reply.data as { session_id: string };
  const { data } = await call('announce', { message: 'main is broken', repo, paths: ['src/**'], session_id }, ana);
  const { announcement_id } = data as { announcement_id: string };
  expect(await events({ category: 'work', kind: 'coordination.announced' })).toMatchObject([
    { subject: announcement_id, session: session_id, actor: ana.principal.actor, payload: { message: 'main is broken', repo, paths: ['src/**'] } },
  ]);
  expect((await call('list', { what: 'announcements' }, mira)).data).toEqual({
    announcements: [{ announcement_id, developer: 'ana', message: 'main is broken', repo, paths: ['src/**'], announced_at: expect.any(Number) }],
    cut: [],
  });
  expect(await call('announce', { message: 'x'.repeat(2_001) }, ana)).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'message' } });
  expect(await call('announce', { message: 'x'.repeat(2_000) }, ana)).toMatchObject({ status: 'ok' });
});

test('for the largest input of every operation, the journal stores shortened details and counts instead of a digest [coordination.events.bounded]', async () => {
  const { ana, call, events, mira } = await team();
  // A control character takes six bytes in JSON, which is more than any other character. Paths cannot contain control characters.
  const worst = (length: number) => '\u0001'.repeat(length);
  const paths = Array.from({ length: 50 }, (_, i) => `${i}${'漢'.repeat(248)}/${'漢'.repeat(248)}`);
  const symbols = Array.from({ length: 50 }, (_, i) => `${i}${worst(298)}`);
  const [name, message] = [worst(300), worst(4_000)];
  const claimed = await call('claim', { repo: name, paths, symbols, reason: worst(500) }, ana);
  const { claim_id } = claimed.data as { claim_id: string };
  const ids = [claim_id];
  for (let i = 0; i < 19; i++) ids.push(((await call('claim', { repo: 'other', paths: [`f${i}`] }, ana)).data as { claim_id: string }).claim_id);
  await call('announce', { message: worst(2_000), repo: name, paths }, ana);
  const asked = await call('ask', { to: 'mira', message, repo: name, paths }, ana);
  await call('reply', { ask_id: (asked.data as { ask_id: string }).ask_id, message }, mira);
  const handed = await call('handoff', { to: 'mira', message, repo: name, branch: name, claim_ids: ids }, ana);
  await call('accept_handoff', { handoff_id: (handed.data as { handoff_id: string }).handoff_id }, mira);
  await call('release', { claim_id }, mira);
  const work = (await events({ category: 'work' })).filter(({ kind }) => /^(claim|ask|handoff|coordination)\./.test(kind));
  expect(new Set(work.map(({ kind }) => kind))).toEqual(
    new Set(['claim.made', 'claim.released', 'coordination.announced', 'ask.sent', 'ask.answered', 'handoff.offered', 'handoff.accepted']),
  );
  for (const { kind, payload } of work) {
    expect([kind, payload]).not.toMatchObject([kind, { truncated: true }]);
    expect(Object.keys(payload).length).toBeGreaterThan(2);
  }
  const made = work.find(({ kind }) => kind === 'claim.made')?.payload as {
    paths: string[];
    paths_omitted: number;
    symbols: string[];
    symbols_omitted: number;
  };
  expect(made.paths.length + made.paths_omitted).toBe(50);
  expect(made.symbols.length + made.symbols_omitted).toBe(50);
  expect(work.find(({ kind }) => kind === 'ask.sent')?.payload.message).toMatch(/^\u0001+…$/);
});

test('list returns the requested sections, and names the lists that have more rows than the limit', async () => {
  const { ana, call, mira } = await team();
  for (let i = 0; i < 3; i++) {
    await call('ask', { to: 'mira', message: `question ${i}`, due_in_minutes: 60 - i }, ana);
    await call('claim', { repo, paths: [`f${i}`] }, ana);
  }
  await call('handoff', { to: 'mira', message: 'yours' }, ana);
  const all = (await call('list', {}, mira)).data as Record<string, unknown[]>;
  expect(Object.keys(all).sort()).toEqual(['announcements', 'asks_by_me', 'asks_to_me', 'claims', 'cut', 'handoffs_by_me', 'handoffs_to_me']);
  expect((all.asks_to_me as AskView[]).map(({ message }) => message)).toEqual(['question 2', 'question 1', 'question 0']);
  expect(all).toMatchObject({ handoffs_to_me: [{ from: 'ana', to: 'mira', status: 'offered' }], handoffs_by_me: [], asks_by_me: [], cut: [] });
  const some = (await call('list', { limit: 2 }, mira)).data as Record<string, unknown[]>;
  expect(some).toMatchObject({ cut: ['claims', 'asks_to_me'] });
  expect([some.claims?.length, some.asks_to_me?.length]).toEqual([2, 2]);
  expect(Object.keys((await call('list', { what: 'claims' }, mira)).data as object).sort()).toEqual(['claims', 'cut']);
  for (const limit of [0, 101]) expect(await call('list', { limit }, mira)).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'limit' } });
});

test('only asks that a list really shows count as read', async () => {
  const { ana, call, mira } = await team();
  await call('ask', { to: 'mira', message: 'urgent', due_in_minutes: 5 }, ana);
  await call('ask', { to: 'mira', message: 'later' }, ana);
  await call('list', { limit: 1 }, mira);
  const { asks_by_me } = (await call('list', {}, ana)).data as { asks_by_me: AskView[] };
  expect(Object.fromEntries(asks_by_me.map(({ message, receipt }) => [message, receipt]))).toEqual({ urgent: 'read', later: 'sent' });
});

test('summary counts the coordination of the workspace and shows its most urgent items [coordination.summary.answers]', async () => {
  const { ana, call, clock, events, mira, tool } = await team();
  expect(await call('summary', {}, ana)).toMatchObject({ status: 'ok', data: { claims: { live: 0 }, asks: { waiting: 0 }, handoffs: { open: 0 } } });
  await call('claim', { repo, paths: ['src/a.ts'], ttl_minutes: 300 }, ana);
  await call('claim', { repo, paths: ['docs/**'], mode: 'shared', ttl_minutes: 300 }, ana);
  await call('claim', { repo, paths: ['docs/**'], mode: 'shared', ttl_minutes: 300 }, mira);
  await call('ask', { to: 'mira', message: 'May I?\n# Not a heading', due_in_minutes: 10 }, ana);
  await tool('covibe_session', { operation: 'heartbeat' }, mira);
  await call('ask', { to: 'mira', message: 'And this?', due_in_minutes: 600 }, ana);
  await call('handoff', { to: 'ana', message: 'Take the docs' }, mira);
  await call('announce', { message: 'yesterday’s news' }, mira);
  clock.advance(HOUR);
  const before = (await events({ category: 'work' })).length;
  const { data } = await call('summary', {}, mira);
  expect(data).toMatchObject({
    claims: {
      live: 3,
      by_developer: [
        { developer: 'ana', exclusive: 1, shared: 1 },
        { developer: 'mira', exclusive: 0, shared: 1 },
      ],
    },
    asks: { waiting: 2, overdue: 1, undelivered: 1 },
    handoffs: { open: 1 },
    announcements: { last_24_hours: 1 },
  });
  const { markdown } = data as { markdown: string };
  for (const line of ['3 live claim(s)', 'ana → mira (overdue): May I? # Not a heading', 'ana → mira (undelivered): And this?', 'mira → ana: Take the docs']) {
    expect(markdown).toContain(line);
  }
  expect((await events({ category: 'work' })).length).toBe(before);
  clock.advance(24 * HOUR);
  expect(await call('summary', {}, mira)).toMatchObject({ data: { claims: { live: 0 }, announcements: { last_24_hours: 0 } } });
});

test('the board shows everything to a signed-in member, marks nothing as read, and names no private developer', async () => {
  const { ana, app, call, done, mira, operator } = await team();
  await call('claim', { repo, paths: ['src/a.ts'] }, ana);
  await call('ask', { to: 'ana', message: 'May I?' }, mira);
  await call('handoff', { to: 'mira', message: 'x' }, ana);
  await call('announce', { message: 'news' }, ana);
  await done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const member = { ...mira.principal, web: true };
  const { reply } = await app.dispatch.action({ name: 'coordination.board', args: {}, principal: member, surface: 'dashboard' });
  expect(reply).toMatchObject({
    status: 'ok',
    data: {
      claims: [{ developer: '@private', agent_type: null }],
      asks: [{ from: 'mira', to: '@private', receipt: 'sent' }],
      handoffs: [{ from: '@private', to: 'mira' }],
      announcements: [{ developer: '@private' }],
    },
  });
  expect(JSON.stringify(reply)).not.toContain(ana.principal.developerId);
  expect((await app.dispatch.action({ name: 'coordination.board', args: {}, principal: mira.principal, surface: 'api' })).reply).toMatchObject({
    code: 'OPERATOR_REQUIRED',
  });
  expect((await app.dispatch.action({ name: 'coordination.board', args: {}, principal: operator.principal, surface: 'cli' })).reply.status).toBe('ok');
});

test("every operation with a session refuses one that is not the caller's", async () => {
  const { ana, app, call, mira, tool } = await team();
  const { session_id } = (await tool('covibe_session', { operation: 'start' }, ana)).reply.data as { session_id: string };
  const sent: Record<string, object> = {
    announce: { message: 'x' },
    claim: { repo, paths: ['a'] },
    release: { claim_id: 'x' },
    ask: { to: 'ana', message: 'x' },
    reply: { ask_id: 'x', message: 'x' },
    handoff: { to: 'ana', message: 'x' },
    accept_handoff: { handoff_id: 'x' },
    check_conflicts: { repo, paths: ['a'] },
    list: {},
    summary: {},
  };
  expect(Object.keys(sent).sort()).toEqual([...(app.registry.tool('covibe_coordination')?.operations.keys() ?? [])].sort());
  for (const [operation, input] of Object.entries(sent)) {
    expect([operation, await call(operation, { ...input, session_id }, mira)]).toMatchObject([operation, { code: 'SESSION_NOT_FOUND' }]);
  }
});

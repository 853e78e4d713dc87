import { expect, test } from 'vitest';
import type { TestCaller } from '../../testing/app.ts';
import { listed, waiting } from '../../testing/scenes/approvals.ts';
import { cycleApp, filesOf, PSKS } from '../../testing/scenes/cycle.ts';
import type { Body } from '../../testing/scenes/workflow.ts';

const WRONG = 'A_WRONG_SECRET';

test('PSKs, session tokens and lock tokens are stored and shown only where they belong [lock.token.where-shown] [cycle.archive.no-secrets] [handoff.write.no-token-in-answer] [cycle.status.no-token] [audit.journal.no-secrets]', async () => {
  const app = await cycleApp();
  const here = { repository_path: app.repository };
  const tokens = new Set<string>();
  /** Collects all other replies and files that somebody can read. */
  const told: unknown[] = [];
  const start = async () => {
    const { lock_token, ...rest } = await app.ok('cycle.start', { feature: 'x' });
    tokens.add(lock_token);
    told.push(rest);
  };
  const acquire = async (session_token: string, caller = app.ana) => {
    const { lock_token, ...rest } = await app.ok('lock.acquire', { session_token }, caller);
    tokens.add(lock_token);
    told.push(rest);
    return { session_token, lock_token };
  };

  // A role session is opened with a wrong PSK and then with the right one. Each call needs an approval first.
  const cara = await app.developer('cara');
  await app.done('capabilities.revoke', { action: 'toolset.cycle', token: cara.tokenId });
  await app.done('capabilities.grant', { action: 'tool.call.lock.acquire', token: cara.tokenId });
  for (const tool of ['session.open', 'handoff.write'])
    await app.done('capabilities.grant', { action: `tool.call.${tool}`, token: cara.tokenId, scope: { approve: true } });
  const approved = async (tool: string, args: object): Promise<Body> => {
    const call = app.tool(tool, { ...here, ...args }, cara);
    const item = await waiting(app);
    expect(item).toMatchObject({ name: tool, arguments: expect.stringContaining('[redacted]') });
    told.push(item, await app.app.store.reader.selectFrom('approvals').selectAll().execute());
    told.push(await app.done('approvals.approve', { approval_id: item.approval_id }));
    return (await call).body;
  };
  const refusal = await approved('session.open', { role: 'gemini', psk: WRONG });
  expect(refusal.error.code).toBe('AUTH_FAILED');
  told.push(refusal);
  const opened = await approved('session.open', { role: 'gemini', psk: PSKS.gemini });
  tokens.add(opened.data.session_token);
  const gemini = await app.open('gemini');
  const codex = await app.open('codex');
  for (const session of [gemini, codex]) tokens.add(session);

  await start();
  const first = await acquire(opened.data.session_token, cara);
  const handed = await approved('handoff.write', { ...first, target: 'codex', payload: await app.payload('codex') });
  expect(handed).toMatchObject({ ok: true, data: { phase: 'backend' } });
  told.push(handed);
  const second = await acquire(codex);

  // These calls contain a secret in a field that is not meant for secrets.
  for (const psk of Object.values(PSKS)) {
    const payload = await app.payload('gemini');
    for (const [tool, args] of [
      ['session.open', { role: psk, psk: 'gemini' }],
      ['session.open', { role: 'gemini', psk: [psk] }],
      ['session.open', { psk }],
      ['cycle.start', { feature: 'x', psk }],
      ['cycle.status', { psk }],
      ['lock.acquire', { session_token: psk }],
      ['lock.acquire', { session_token: codex, psk, lock_token: second.lock_token }],
      ['handoff.read', { target: psk }],
      ['handoff.read', { target: 'codex', session_token: codex }],
      ['handoff.write', { target: psk, payload: psk, session_token: codex, lock_token: psk }],
      ['handoff.write', { ...second, target: 'gemini', payload: { ...payload, producer: psk } }],
      ['handoff.write', { ...second, target: 'gemini', payload: { ...payload, notes: [psk, codex], extras: { lock_token: second.lock_token } } }],
      ['cycle.complete', { session_token: gemini, lock_token: psk, psk }],
      ['cycle.archive', { session_token: psk, lock_token: second.lock_token }],
      ['session.open', psk],
    ] as const) {
      const answer = await app.tool(tool, typeof args === 'string' ? args : { ...here, ...args }, app.ana);
      expect(answer.isError, tool).toBe(true);
      told.push(answer);
    }
  }
  told.push(await app.ok('handoff.write', { ...second, target: 'gemini', payload: await app.payload('gemini') }));
  told.push(await app.ok('handoff.read', { target: 'codex' }), await app.ok('cycle.status'), ...filesOf(app.repository).values());
  const third = await acquire(gemini);
  told.push(await app.refused('cycle.complete', { ...third, lock_token: second.lock_token }));
  told.push(await app.ok('cycle.complete', third), await app.ok('cycle.archive', third), await app.ok('cycle.status'));
  await start();
  const { items } = (await app.done('cycles.list', {})) as Body;
  for (const { id } of items) told.push(await app.done('cycles.show', { id }));
  told.push(items, await app.done('cycles.show', here), await app.done('cycles.sessions', {}), ...filesOf(app.repository).values());
  for (const status of ['waiting', 'approved', 'used', 'refused', 'expired']) told.push((await app.action('approvals.list', { status })).body);

  const store = app.app.store.reader;
  const kept = [
    await app.events(),
    await store.selectFrom('approvals').selectAll().execute(),
    await store.selectFrom('role_sessions').selectAll().execute(),
    await store.selectFrom('psk_failures').selectAll().execute(),
    await store.selectFrom('cycle_handoffs').selectAll().execute(),
    await store.selectFrom('cycles').select(['machine', 'config', 'reason', 'feature', 'mode']).execute(),
  ];
  const everything = { told: JSON.stringify(told), kept: JSON.stringify(kept), logged: app.logged.join('\n') };
  expect(tokens.size).toBe(3 + 4);
  for (const [where, text] of Object.entries(everything)) {
    for (const secret of [...tokens, ...Object.values(PSKS), WRONG]) expect(text.includes(secret), `${where} tells ${secret}`).toBe(false);
  }
  expect(await listed(app)).toEqual([]);
});

test('the record of a call does not depend on its secrets, because a short PSK could be guessed from a digest', async () => {
  const app = await cycleApp();
  const digests = async (tool: string, ...calls: object[]) => {
    for (const args of calls) await app.tool(tool, { repository_path: app.repository, ...args }, app.ana);
    const events = (await app.events({ category: 'usage', kind: tool })).slice(-calls.length);
    expect(events).toHaveLength(calls.length);
    return new Set(events.map(({ payload }) => payload.arguments_sha256));
  };
  expect((await digests('session.open', { role: 'gemini', psk: 'a' }, { role: 'gemini', psk: PSKS.gemini }, { role: 'gemini', psk: 7 })).size).toBe(1);
  expect((await digests('session.open', { role: 'gemini', psk: 'a' }, { role: 'codex', psk: 'a' })).size).toBe(2);
  // The same applies if the name of the tool is misspelled.
  for (const tool of ['session.opne', 'cycle.start', 'cycle.status', 'lock.acquire', 'handoff.read', 'handoff.write', 'cycle.complete', 'cycle.archive']) {
    for (const field of ['psk', 'session_token', 'lock_token'])
      expect((await digests(tool, { [field]: 'one' }, { [field]: 'two' })).size, `${tool} ${field}`).toBe(1);
  }
  for (const psk of ['one', 'two']) await app.action('session.open', { psk });
  const [one, two] = (await app.events({ category: 'usage', kind: 'session.open' })).slice(-2);
  expect(one?.subject).toBe('action:session.open');
  expect(one?.payload.arguments_sha256).toBe(two?.payload.arguments_sha256);
});

test("others see that a private developer's agents work, but not whose they are", async () => {
  const app = await cycleApp();
  await app.open('gemini', app.ben);
  await app.ok('cycle.start', { feature: 'x' }, app.ben);
  const seenBy = async ({ principal, ...caller }: TestCaller) => {
    const person = { ...caller, principal: { ...principal, web: true } };
    const here = { repository_path: app.repository };
    return JSON.stringify([
      await app.done('cycles.list', {}, person),
      await app.done('cycles.show', here, person),
      await app.done('cycles.sessions', {}, person),
    ]);
  };
  const id = String(app.ben.principal.developerId);
  expect(await seenBy(app.ana)).toContain(id);
  await app.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  expect(await seenBy(app.ana)).not.toContain(id);
  expect(await seenBy(app.ana)).toContain('"started_by":"@private"');
  expect(await seenBy(app.ben)).toContain(id);
});

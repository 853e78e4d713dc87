import { expect, test } from 'vitest';
import { edit, hooksApp, MINUTE, REPO } from '../../../testing/scenes/hooks.ts';

async function team() {
  const t = await hooksApp();
  const ask = async (message: string) => await t.call('covibe_coordination', 'ask', { to: 'ana', message }, t.cursor);
  const message = async (body: string) => {
    const agent = async (caller = t.claude) =>
      ((await t.tool('agent_register', { name: 'worker', runtime: 'claude_code' }, caller)).reply.data as { id: string }).id;
    const words = { sender_id: await agent(t.cursor), recipient_id: await agent(), message_type: 'notification', body };
    await t.tool('message_send', words, t.cursor);
  };
  const revoke = (action: string) => t.done('capabilities.revoke', { action, token: t.claude.tokenId });
  const grant = (action: string, scope: object) => t.done('capabilities.grant', { action, token: t.claude.tokenId, scope });
  return { ...t, ask, message, revoke, grant };
}

test('without the team toolset a hook starts and ends no session and reports no team data, but claims still deny edits', async () => {
  const t = await team();
  await t.claimed(['a.ts'], t.cursor);
  await t.ask('Which port?');
  await t.message('Deploy at noon');
  await t.revoke('toolset.team');
  const welcome = await t.hear('session-start', { repo: REPO });
  expect(welcome).toMatchObject({ session_id: null, context: 'Waiting for you: 1 message (covibe_coordination list, message_list).' });
  expect((await t.hear('before-tool', edit('a.ts'))).decision).toBe('deny');
  const told = [await t.hear('prompt'), await t.hear('after-tool'), await t.hear('session-start', { source: 'compact', repo: REPO }), await t.hear('stop')];
  const words = JSON.stringify(told);
  expect(words).toContain('Deploy at noon');
  expect(words).not.toMatch(/port|session_id"?:"|ses_|In claims/);
  expect(told.at(-1)).toMatchObject({ decision: 'allow', notice: null });
  expect(await t.events({ kind: 'session.started' })).toEqual([]);
  expect(await t.events({ kind: 'ask.delivered' })).toEqual([]);
});

test("after the team toolset is revoked, the run's earlier work is kept but not reported; it is reported again once the grant is back", async () => {
  const t = await team();
  const session_id = await t.begun('run-1');
  const claim = await t.claimed(['a.ts'], t.claude, { session_id });
  const task = await t.started({ title: 'Rework the uploads', session_id }, t.claude);
  await t.revoke('toolset.team');
  const kinds = async () => (await t.events()).map(({ kind }) => kind);
  const before = await kinds();
  const lease = () => t.app.store.reader.selectFrom('claims').select('expires_at').where('id', '=', claim).executeTakeFirstOrThrow();
  const { expires_at } = await lease();
  t.clock.advance(MINUTE);
  expect((await t.hear('after-tool')).session_id).toBe(session_id);
  expect((await lease()).expires_at).toBe(expires_at + MINUTE);
  const told = [await t.hear('stop', { repo: REPO, dirty_files: ['b.ts'] }), await t.hear('session-start', { source: 'compact', repo: REPO })];
  const words = told.map(({ reason, context }) => `${reason} ${context}`).join();
  for (const own of [session_id, claim, task]) expect(words).not.toContain(own);
  // Its claims still block others.
  expect((await t.hear('before-tool', edit('a.ts'))).decision).toBe('allow');
  await t.hear('session-end', { repo: REPO, dirty_files: [] });
  expect((await kinds()).slice(before.length)).toEqual(['session.ended', 'claim.released']);
  await t.begun('run-9', t.codex);
  expect((await t.hear('before-tool', { ...edit('a.ts'), client_session: 'run-9' }, t.codex)).decision).toBe('allow');
});

test('a session that the agent started itself ends with its run, whatever the grants', async () => {
  const t = await team();
  const automatic = await t.begun('run-1');
  await t.claimed(['a.ts'], t.claude, { session_id: automatic });
  const session_id = await t.session(t.claude);
  await t.claimed(['b.ts'], t.claude, { session_id });
  await t.revoke('toolset.team');
  expect(await t.hear('after-tool', { session_id })).toMatchObject({ session_id, context: null });
  await t.hear('session-end');
  expect(await t.events({ kind: 'session.ended' })).toMatchObject([{ subject: automatic }, { subject: session_id }]);
  expect(await t.events({ kind: 'claim.released' })).toHaveLength(2);
});

test('a grant of one tool lets a hook do only what that tool is for', async () => {
  const t = await team();
  await t.ask('Which port?');
  await t.message('Deploy at noon');
  for (const toolset of ['toolset.team', 'toolset.workflow']) await t.revoke(toolset);
  const heard = async (...tools: string[]) => {
    for (const tool of tools) await t.grant(`tool.call.${tool}`, {});
    const client_session = `run of ${tools.join()}`;
    const start = await t.hear('session-start', { client_session, repo: REPO });
    const { context } = await t.hear('compact', { client_session });
    for (const tool of tools) await t.revoke(`tool.call.${tool}`);
    return { session: start.session_id !== null, welcome: start.context, told: ['Which port?', 'Deploy at noon'].filter((part) => context?.includes(part)) };
  };
  expect(await heard('covibe_session')).toEqual({ session: true, welcome: expect.stringMatching(/^Covenant: this run is session \S+\. [^\n]+$/), told: [] });
  const claims = { session: false, welcome: expect.stringMatching(/^In claims.+\nWaiting for you: 1 ask \(/) };
  expect(await heard('covibe_coordination')).toEqual({ ...claims, told: ['Which port?'] });
  expect(await heard('message_list')).toMatchObject({ session: false, told: ['Deploy at noon'] });
  expect(await heard('covibe_note')).toEqual({ session: false, welcome: null, told: [] });
  await t.grant('tool.call.covibe_task', {});
  await t.hear('prompt', { client_session: 'last' });
  t.clock.advance(1);
  await t.grant('toolset.team', {});
  const task = await t.started({ title: 'Cut the release' }, t.claude);
  await t.revoke('toolset.team');
  expect((await t.hear('stop', { client_session: 'last' })).reason).toContain(task);
  await t.revoke('tool.call.covibe_task');
  expect(await t.hear('stop', { client_session: 'last' })).toMatchObject({ decision: 'allow', notice: null });
});

test('without the workflow toolset a hook delivers neither messages nor workflow tasks', async () => {
  const t = await team();
  await t.begun('run-1');
  await t.ask('Which port?');
  await t.message('Deploy at noon');
  await t.revoke('toolset.workflow');
  const { context } = await t.hear('prompt');
  expect(context).toContain('Which port?');
  expect(context).not.toContain('Deploy');
  expect(await t.events({ kind: 'message.delivered' })).toEqual([]);
});

test('without both toolsets a hook delivers nothing; a grant with a use limit or with approval does not apply to hooks', async () => {
  const t = await team();
  await t.ask('Which port?');
  for (const toolset of ['toolset.team', 'toolset.workflow']) await t.revoke(toolset);
  for (const scope of [{ approve: true }, { max_uses: 5 }, { max_per_minute: 5 }, { arguments: { allow: [{ operation: 'start' }] } }]) {
    await t.grant('toolset.team', scope);
    for (const event of ['session-start', 'prompt', 'after-tool', 'compact'] as const) {
      expect([event, await t.hear(event, { repo: REPO })]).toEqual([event, expect.objectContaining({ session_id: null, context: null })]);
    }
    await t.revoke('toolset.team');
  }
  expect((await t.hear('stop', { repo: REPO, dirty_files: ['a.ts'] })).reason).toContain('not committed: a.ts');
  await t.grant('toolset.team', {});
  expect(await t.hear('prompt')).toMatchObject({ session_id: expect.stringMatching(/^ses_/), context: expect.stringContaining('Which port?') });
});

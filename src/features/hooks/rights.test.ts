import { expect, test } from 'vitest';
import { edit, hooksApp, MINUTE, REPO } from '../../testing/hooks.ts';

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

test('without the team toolset a hook starts and ends no session and tells nothing of the team, and edits are denied all the same', async () => {
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

test('of what the run had begun when the team toolset was taken away nothing is told, kept alive, reported or ended', async () => {
  const t = await team();
  const session_id = await t.begun('run-1');
  const claim = await t.claimed(['a.ts'], t.claude, { session_id });
  const task = await t.started({ title: 'Rework the uploads', session_id }, t.claude);
  const other = await t.session(t.claude);
  await t.revoke('toolset.team');
  const before = await t.events();
  const lease = () => t.app.store.reader.selectFrom('claims').select('expires_at').where('id', '=', claim).executeTakeFirst();
  const until = await lease();
  t.clock.advance(MINUTE);
  expect((await t.hear('after-tool', { session_id: other })).session_id).toBe(session_id);
  const told = [await t.hear('stop', { repo: REPO, dirty_files: ['b.ts'] }), await t.hear('session-start', { source: 'compact', repo: REPO })];
  const words = told.map(({ reason, context }) => `${reason} ${context}`).join();
  for (const own of [session_id, claim, task]) expect(words).not.toContain(own);
  // What it has claimed is in nobody's way but others'.
  expect((await t.hear('before-tool', edit('a.ts'))).decision).toBe('allow');
  await t.hear('session-end', { repo: REPO, dirty_files: [] });
  expect(await lease()).toEqual(until);
  expect((await t.events()).length).toBe(before.length);
});

test('without the workflow toolset a hook tells no message and nothing of workflow tasks', async () => {
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

test('without both a hook tells nothing, and a grant that is counted or has a person asked is none for hooks', async () => {
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

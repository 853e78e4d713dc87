import { expect, test } from 'vitest';
import { type TestApp, type TestCaller, testApp } from '../../../testing/app.ts';

interface Explained {
  capability: string;
  tool: { server: string; state: string } | null;
  answers: { subject: string; name: string; label: string; answer: string; message: string | null; grant: Record<string, unknown> | null }[];
  more: number;
}

const explained = async (t: TestApp, input: object, caller?: TestCaller) => (await t.done('capabilities.explain', input, caller)) as unknown as Explained;
const onDashboard = (caller: TestCaller): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true } });

test('the explanation matches the result of the real call, names the deciding grant and counts no use', async () => {
  const t = await testApp();
  const codex = await t.developer('mira', 'codex');
  const ask = async () => (await explained(t, { token: codex.tokenId, name: 'echo' })).answers[0];
  const call = () => t.tool('echo', { text: 'hi' }, codex);

  expect(await explained(t, { token: codex.tokenId, name: 'clock' })).toMatchObject({ answers: [{ answer: 'open', grant: null, message: null }] });
  const denied = await call();
  expect(await ask()).toMatchObject({ answer: 'no', grant: null, message: (denied.reply as { message: string }).message });

  const { grant_id } = await t.done('capabilities.grant', { action: 'tool.call.echo', token: codex.tokenId, scope: { max_uses: 1 } });
  for (const _ of [1, 2]) expect(await ask()).toMatchObject({ name: 'codex@mira', answer: 'yes', grant: { grant_id, uses: 0, scope: { max_uses: 1 } } });
  expect((await call()).isError).toBe(false);
  expect(await ask()).toMatchObject({ answer: 'no', message: 'Denied: this agent token lacks tool.call.echo (its grant is used up).' });

  await t.done('capabilities.grant', { action: 'tool.call.echo', token: codex.tokenId, scope: { approve: true } });
  expect(await ask()).toMatchObject({ answer: 'asks', grant: { scope: { approve: true } } });
  await t.done('capabilities.grant', { action: 'tool.call.echo', developer: 'mira', scope: { arguments: { allow: [{ text: 'hi' }] } } });
  await t.done('capabilities.revoke', { action: 'tool.call.echo', token: codex.tokenId });
  expect(await ask()).toMatchObject({ answer: 'limited', grant: { subject_name: 'mira', scope: { arguments: { allow: [{ text: 'hi' }] } } } });

  // Empty allowed arguments still limit a grant, and a grant without limits is used before it.
  await t.done('capabilities.grant', { action: 'tool.call.echo', token: codex.tokenId, scope: { arguments: { allow: [{}] } } });
  expect(await ask()).toMatchObject({ answer: 'limited' });
  await t.done('capabilities.grant', { action: 'tool.call.echo', token: codex.tokenId });
  expect(await ask()).toMatchObject({ answer: 'yes', grant: { scope: {} } });

  await t.done('tokens.revoke', { token_id: codex.tokenId });
  expect(await ask()).toMatchObject({ answer: 'no', grant: null, message: 'The token was revoked. It is refused before any grant is checked.' });
  expect(await t.events({ kind: 'CapabilityCheck' })).toHaveLength(2);
});

test('the explanation has one answer for each token of a developer, reports a missing tool, and can also be about an instance or the operator', async () => {
  const t = await testApp();
  const codex = await t.developer('mira', 'codex');
  await t.developer('mira', 'claude-code');
  await t.done('capabilities.grant', { action: 'tool.call.echo', token: codex.tokenId });
  const { answers } = await explained(t, { developer: 'mira', name: 'echo' });
  expect(answers.map(({ name, answer }) => [name, answer])).toEqual([
    ['claude-code@mira', 'no'],
    ['codex@mira', 'yes'],
  ]);
  expect(await explained(t, { developer: 'mira', name: 'covibe_task' })).toMatchObject({
    tool: { server: 'native', state: 'up' },
    answers: [{ answer: 'yes', grant: { action: 'toolset.team' } }, { answer: 'yes' }],
  });
  expect(await explained(t, { name: 'fs_read' })).toMatchObject({
    capability: 'tool.call.fs_read',
    tool: null,
    answers: [{ subject: 'operator', answer: 'no' }],
  });
  expect((await t.action('capabilities.explain', { developer: 'nobody', name: 'echo' })).reply).toMatchObject({ code: 'DEVELOPER_NOT_FOUND' });
});

test('developers can explain only their own access, and cannot find out whether another token exists', async () => {
  const t = await testApp();
  const mira = await t.developer('mira');
  const ben = onDashboard(await t.developer('ben'));
  expect((await explained(t, { developer: 'ben', name: 'echo' }, ben)).answers).toMatchObject([{ name: 'ben', answer: 'no' }]);
  const refusals = [{ developer: 'mira' }, { token: mira.tokenId }, { token: 'tok_none' }, {}].map(
    async (who) => (await t.action('capabilities.explain', { ...who, name: 'echo' }, ben)).reply,
  );
  for (const reply of await Promise.all(refusals)) expect(reply).toMatchObject({ code: 'NOT_YOURS' });
  const { callers, total_callers } = (await t.done('capabilities.matrix', {}, ben)) as { callers: { name: string }[]; total_callers: number };
  expect([callers.map(({ name }) => name), total_callers]).toEqual([['ben'], 1]);
});

test("the matrix shows the gate's answer for each tool and token, with pages of tools and of tokens", async () => {
  const t = await testApp();
  const codex = await t.developer('mira', 'codex');
  await t.developer('ben', 'gemini');
  await t.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  await t.done('capabilities.grant', { action: 'tool.call.echo', token: codex.tokenId, scope: { approve: true } });
  const all = (await t.done('capabilities.matrix', { text: 'c', limit: 100 })) as {
    items: { name: string; answers: string[] }[];
    callers: { name: string; label: string }[];
    total: number;
  };
  expect(all.callers).toEqual([
    { subject: 'operator', name: 'operator', label: '' },
    { subject: expect.stringMatching(/^token:/), name: '@private', label: '' },
    { subject: `token:${codex.tokenId}`, name: 'codex@mira', label: 'codex 1' },
  ]);
  const row = (name: string) => all.items.find((item) => item.name === name)?.answers;
  expect([row('clock'), row('echo'), row('covibe_coordination')]).toEqual([
    ['open', 'open', 'open'],
    ['no', 'no', 'asks'],
    ['no', 'yes', 'yes'],
  ]);
  const page = await t.done('capabilities.matrix', { text: 'c', limit: 1, offset: 1, callers_limit: 1, callers_offset: 2 });
  expect(page).toMatchObject({
    callers: [{ name: 'codex@mira' }],
    total_callers: 3,
    items: [{ name: all.items[1]?.name, answers: [all.items[1]?.answers[2]] }],
    total: all.total,
  });
});

test('grants are listed newest first in pages and can be filtered by status, subject and text; `expires_in_minutes` counts by the server’s clock', async () => {
  const t = await testApp();
  const mira = await t.developer('mira');
  const grant = async (input: object) => (await t.done('capabilities.grant', { developer: 'mira', ...input })).grant_id as string;
  const standing = await grant({ action: 'tool.call.echo' });
  const hour = await grant({ action: 'tool.call.fs_read', expires_in_minutes: 60 });
  const revoked = await grant({ action: 'tool.call.fs_write' });
  await t.done('capabilities.revoke', { grant_id: revoked });
  const ids = async (input: object) => ((await t.done('capabilities.list', input)) as { items: { grant_id: string }[] }).items.map(({ grant_id }) => grant_id);
  expect(await ids({ developer: 'mira' })).toEqual([revoked, hour, standing]);
  expect(await ids({ developer: 'mira', status: 'live' })).toEqual([hour, standing]);
  expect(await ids({ text: 'FS_' })).toEqual([revoked, hour]);
  expect(await ids({ grant_id: hour.slice(-8) })).toEqual([hour]);
  expect(await t.done('capabilities.list', { developer: 'mira', limit: 2 })).toMatchObject({ items: [{}, {}], more: true });
  expect(await t.done('capabilities.list', { developer: 'mira', limit: 2, before: hour })).toMatchObject({
    items: [{ grant_id: standing, granted_by_name: 'operator' }],
    more: false,
  });
  expect(await ids({ token: mira.tokenId })).toHaveLength(3);
  t.clock.advance(60 * 60_000 + 1);
  expect(await ids({ status: 'expired' })).toEqual([hour]);
  expect((await t.action('capabilities.grant', { action: 'tool.call.echo', expires_in_minutes: 1, scope: { expires_at: 5 } })).reply).toMatchObject({
    code: 'INVALID_INPUT',
    data: { field: 'expires_in_minutes' },
  });
});

test('signed-in people cannot see who holds or gave a grant if that developer is private', async () => {
  const t = await testApp();
  const admin = await t.developer('mira');
  const codex = await t.developer('ben', 'codex');
  const ben = String(codex.principal.developerId);
  const signedIn = { ...admin, principal: { ...admin.principal, web: true, operator: true } };
  const byBen = { ...codex, principal: { ...codex.principal, actor: `developer:${ben}`, web: true, signedInAt: t.clock.now(), operator: true } };
  await t.done('capabilities.grant', { action: 'tool.call.echo', developer: 'ben' }, byBen);
  await t.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const listed = await t.done('capabilities.list', {}, signedIn);
  expect(listed.items).toContainEqual(expect.objectContaining({ subject: '@private', subject_name: '@private', granted_by: '@private' }));
  expect(JSON.stringify(listed)).not.toContain(ben);
  expect(JSON.stringify(listed)).not.toContain(codex.tokenId);
  expect(JSON.stringify(await t.done('capabilities.list', {}))).toContain(ben);
});

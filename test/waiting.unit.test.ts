import { expect, test } from 'vitest';
import { workspaceId } from '../src/kernel/ids.ts';
import type { TestApp, TestCaller } from '../src/testing/app.ts';
import { testClock } from '../src/testing/clock.ts';
import { SLEEPER } from '../src/testing/config.ts';
import { temporaryRepository } from '../src/testing/scenes/repository.ts';
import { pretendedHost } from '../src/testing/scenes/sessions.ts';
import type { Body } from '../src/testing/scenes/workflow.ts';
import { child, upstreamApp } from '../src/testing/stand-ins/upstreams.ts';

const MINUTE = 60_000;

/** Returns the caller as a person who uses the dashboard. */
const person = (caller: TestCaller, operator: boolean): TestCaller => ({
  ...caller,
  principal: { ...caller.principal, web: true, operator, signedInAt: Number.MAX_SAFE_INTEGER },
});

const waiting = async (t: TestApp, caller: TestCaller): Promise<{ items: Body[]; cut: boolean }> => (await t.done('waiting.list', {}, caller)) as Body;

/** Creates a waiting item of each kind. They are one minute apart, the oldest first. */
async function everything() {
  const agentHost = pretendedHost();
  const launchers = { tiny: { ...SLEEPER, args: ['86400', '{{prompt}}'], prompt: 'argument' as const } };
  const t = await upstreamApp([{ name: 'far', ...child('changes-description') }], { clock: testClock(Date.now()), agentHost, launchers });
  t.app.servesAt('http://127.0.0.1:9');
  const ana = await t.developer('ana');
  const ben = await t.developer('ben');
  const codex = await t.developer('ben', 'codex');
  const call = async (tool: string, args: object, caller = codex): Promise<Body> => {
    const { isError, body } = await t.tool(tool, args, caller);
    if (isError) throw new Error(`${tool} answered ${JSON.stringify(body)}`);
    t.clock.advance(MINUTE);
    return body;
  };
  await t.event('upstream.seen', 'far');
  await t.call('far_change', {});
  await t.event('upstream.changed', 'far');

  const work = { title: 'Cache thumbnails', task_type: 'feature', scope: 'Keep them on disk', target_files: ['src/gallery.ts'] };
  await call('covibe_task', { operation: 'check', ...work });
  await call('covibe_task', { operation: 'start', ...work });
  const same = { ...work, title: 'Store thumbnails' };
  const overlap = (await call('covibe_task', { operation: 'check', ...same }, ana)).data.warning_id;
  const handoff = (await call('covibe_coordination', { operation: 'handoff', to: 'ana', message: 'The gallery is yours.' })).data.handoff_id;
  const ask = (await call('covibe_coordination', { operation: 'ask', to: 'ana', message: 'May I drop it?', due_in_minutes: 600 })).data.ask_id;

  await t.done('settings.set', { key: 'review.max_iterations', value: 1 });
  const repository = temporaryRepository();
  const { id: instance } = (await t.done('instances.start', { repository_path: repository.path, type: 'coding', issue: 7, agent: 'tiny' }, t.operator)) as Body;
  const row = await t.app.store.reader.selectFrom('instances').selectAll().where('id', '=', instance).executeTakeFirstOrThrow();
  repository.commit('a.txt', 'work\n', row.worktree_path);
  const token = agentHost.started.findLast(({ name }) => name === instance)?.env.COVIBE_MCP_TOKEN ?? '';
  const authenticated = await t.app.authenticate(token, 'bearer');
  if (!('principal' in authenticated)) throw new Error('the token of the instance is refused');
  await call('request_review', { completion_message: 'done' }, { token, tokenId: authenticated.principal.tokenId, principal: authenticated.principal });

  const agent = (await call('agent_register', { name: 'builder', runtime: 'codex' })).id;
  const words = { sender_id: agent, recipient_id: 'human', message_type: 'query' };
  const port = (await call('message_send', { ...words, subject: 'The port', body: 'Which may I use?', priority: 'high', expires_in_minutes: 900 })).id;
  const host = (await call('message_send', { ...words, body: 'Which host?' })).id;
  const { user_code: code } = await t.app.devices.ask('10.0.0.1', { machine_name: 'laptop', agents: ['codex', 'gemini'] });
  t.clock.advance(MINUTE);
  await t.done('capabilities.grant', { action: 'tool.call.echo', token: codex.tokenId, scope: { approve: true } });
  const held = t.tool('echo', { text: 'hi' }, codex);
  const approval = await t.until(async () => ((await t.done('approvals.list', {})) as Body).items[0]?.approval_id);
  const finish = async () => {
    await t.done('approvals.refuse', { approval_id: approval });
    await held;
  };
  const ids = { overlap, handoff, ask, instance, port, host, code, approval };
  return { t, ids, ana: person(ana, true), ben: person(ben, false), finish };
}

const end = (id: string) => id.slice(-6);

test('lists waiting items by deadline, then by age, and shows each kind only to the people that it concerns', async () => {
  const { t, ids, ana, ben, finish } = await everything();
  const question = { kind: 'question', who: 'codex@ben', since: expect.any(Number) };
  const device = {
    ...{ kind: 'device', id: ids.code, who: 'laptop', sentence: 'asks for tokens for codex, gemini', pressing: true },
    ...{ since: expect.any(Number), deadline: expect.any(Number), command: `covenant devices approve ${ids.code} --developer NAME` },
  };
  const call = {
    ...{ kind: 'call', id: ids.approval, who: 'codex@ben', sentence: 'wants to call the tool echo', pressing: true },
    ...{ since: expect.any(Number), deadline: expect.any(Number), command: `covenant approvals approve ${end(ids.approval)}` },
  };
  const port = {
    ...{ ...question, id: ids.port, sentence: 'The port: Which may I use?', pressing: true },
    ...{ deadline: expect.any(Number), command: `covenant messages answer ${end(ids.port)}` },
  };
  const ask = {
    ...{ kind: 'ask', id: ids.ask, who: 'codex@ben', sentence: 'May I drop it?', pressing: false },
    ...{ since: expect.any(Number), deadline: expect.any(Number), command: `covenant messages answer ${end(ids.ask)}` },
  };
  const overlap = {
    ...{ kind: 'overlap', id: ids.overlap, who: null, sentence: '“Store thumbnails” looks like “Cache thumbnails” by ben', pressing: false },
    ...{ since: expect.any(Number), deadline: null, command: `covenant overlap dismiss ${end(ids.overlap)} --reason WHY` },
  };
  const handoff = {
    ...{ kind: 'handoff', id: ids.handoff, who: 'ben', sentence: 'The gallery is yours.', pressing: false },
    ...{ since: expect.any(Number), deadline: null, command: `covenant messages show ${ids.handoff}` },
  };
  const review = {
    ...{ kind: 'review', id: ids.instance, who: ids.instance, sentence: 'has used 1 of 1 review', pressing: false },
    ...{ since: expect.any(Number), deadline: null, command: `covenant instances allow ${ids.instance}` },
  };
  const host = { ...question, id: ids.host, sentence: 'Which host?', deadline: null, pressing: false, command: `covenant messages answer ${end(ids.host)}` };
  const definition = {
    ...{ kind: 'definition', id: 'server:far', who: 'far', sentence: '1 definition withheld until somebody approves the changes', pressing: false },
    ...{ since: null, deadline: null, command: 'covenant servers approve far' },
  };
  expect(await waiting(t, ana)).toEqual({ items: [device, call, ask, port, overlap, handoff, review, host, definition], cut: false });
  // The operator is not a developer, so nobody can send asks to it.
  expect(await waiting(t, t.operator)).toEqual({ items: [device, call, port, review, host, definition], cut: false });
  expect(await waiting(t, ben)).toEqual({ items: [port, review, host], cut: false });
  // Devices and configured servers are managed only in the default workspace.
  const other = person(await t.developer('ana', undefined, workspaceId('other')), true);
  expect(await waiting(t, other)).toEqual({ items: [], cut: false });

  await t.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const seen = (await waiting(t, ana)).items;
  const whose = Object.fromEntries(seen.map(({ id, who }) => [id, who]));
  for (const id of [ids.port, ids.host, ids.ask, ids.handoff, ids.approval]) expect([id, whose[id]]).toEqual([id, '@private']);
  const cleo = person(await t.developer('cleo'), false);
  const member = (await waiting(t, cleo)).items;
  expect(member.map(({ id, who }) => [id, who])).toEqual([
    [ids.port, '@private'],
    [ids.instance, ids.instance],
    [ids.host, '@private'],
  ]);
  expect(JSON.stringify([seen, member])).not.toMatch(/ben|codex@|dev_/);
  await finish();
});

test('does not list a rejected definition', async () => {
  const t = await upstreamApp([{ name: 'far', ...child('changes-description') }]);
  await t.event('upstream.seen', 'far');
  await t.call('far_change', {});
  await t.event('upstream.changed', 'far');
  expect((await waiting(t, t.operator)).items).toMatchObject([{ kind: 'definition' }]);
  await t.done('servers.reject', { server: 'far' });
  expect(((await t.done('servers.list', {})) as Body).items[0].withheld).toHaveLength(1);
  expect(await waiting(t, t.operator)).toEqual({ items: [], cut: false });
});

test('limits the list to 50 devices, because anyone can request devices, and reports that it was cut', async () => {
  const t = await upstreamApp([]);
  for (let n = 0; n < 51; n++) await t.app.devices.ask(`10.0.0.${n}`, { machine_name: `laptop ${n}`, agents: ['codex'] });
  const { items, cut } = await waiting(t, t.operator);
  expect([items.length, cut]).toEqual([50, true]);
});

import { expect, test } from 'vitest';
import type { Feature } from '../../../kernel/tool.ts';
import { type TestCaller, testApp } from '../../../testing/app.ts';
import { type ClaimListener, claimTools } from './claims.ts';
import { liveClaims } from './index.ts';

const repo = 'github.com/acme/app';

async function team(features: readonly Feature[] = []) {
  const app = await testApp({ features });
  const [ana, mira] = [await app.developer('ana', 'claude-code'), await app.developer('mira', 'codex')];
  const call = async (operation: string, input: object, by: TestCaller) => (await app.tool('covibe_coordination', { operation, ...input }, by)).reply;
  const id = async (noun: string, operation: string, input: object, by: TestCaller) => {
    const reply = await call(operation, input, by);
    if (reply.status !== 'ok') throw new Error(`${reply.code}: ${reply.message}`);
    return (reply.data as Record<string, string>)[noun] as string;
  };
  const plan = async (title: string, by: TestCaller) => {
    const { reply } = await app.tool('covibe_task', { operation: 'plan', title, task_type: 'feature' }, by);
    return (reply.data as { task_id: string }).task_id;
  };
  return { ...app, ana, mira, call, id, plan };
}

test("a handoff carries the giver's active context, and the receiver fetches it by its id [coordination.handoff.context]", async () => {
  const { ana, call, events, mira, tool } = await team();
  const publish = async (branch: string) => {
    const input = { operation: 'publish_context', title: `On ${branch}`, summary: 'Half done.', repo, branch };
    return ((await tool('covibe_session', input, ana)).reply.data as { context_id: string }).context_id;
  };
  const wanted = await publish('retries');
  await publish('other');
  const offered = await call('handoff', { to: 'mira', message: 'Yours.', repo, branch: 'retries' }, ana);
  expect(offered).toMatchObject({ status: 'ok', data: { handoff_id: expect.stringMatching(/^handoff_/), context_id: wanted } });
  expect(await events({ kind: 'handoff.offered' })).toMatchObject([{ actor: ana.principal.actor, payload: { context_id: wanted, message: 'Yours.' } }]);

  const beat = (await tool('covibe_session', { operation: 'heartbeat' }, mira)).reply.data;
  expect(beat).toMatchObject({ handoffs: [{ from: 'ana', message: 'Yours.', context_id: wanted }] });
  const { handoff_id } = offered.data as { handoff_id: string };
  const { data } = await call('accept_handoff', { handoff_id }, mira);
  const fetched = await tool('covibe_session', { operation: 'get_context', context_id: (data as { context_id: string }).context_id }, mira);
  expect(fetched.reply).toMatchObject({ status: 'ok', data: { context: { title: 'On retries', summary: 'Half done.' } } });
});

test('accepting a handoff returns the context that the giver published last, or none if none is active', async () => {
  const { ana, call, clock, id, mira, tool } = await team();
  const publish = async (address: string) => {
    const input = { operation: 'publish_context', title: 'Retries', summary: 'Half done.', repo: address };
    return ((await tool('covibe_session', input, ana)).reply.data as { context_id: string }).context_id;
  };
  const first = await publish(repo);
  const offers = [
    await id('handoff_id', 'handoff', { to: 'mira', message: 'x', repo }, ana),
    await id('handoff_id', 'handoff', { to: 'mira', message: 'x' }, ana),
  ];
  const second = await publish(`https://${repo}.git`);
  expect(second).not.toBe(first);
  expect(await call('accept_handoff', { handoff_id: offers[0] }, mira)).toMatchObject({ data: { context_id: second } });
  clock.advance(24 * 3_600_000);
  expect(await call('accept_handoff', { handoff_id: offers[1] }, mira)).toMatchObject({
    message: expect.stringContaining('ask the giver'),
    data: { context_id: null },
  });
});

test('the reply to a handoff says if the giver has no active context', async () => {
  const { ana, call } = await team();
  const offered = await call('handoff', { to: 'mira', message: 'Yours.' }, ana);
  expect(offered).toMatchObject({ status: 'ok', message: expect.stringContaining('you have no active one'), data: { context_id: null } });
});

test('accept_handoff transfers the offered tasks and claims; nobody else can accept, and only once [coordination.handoff.accept]', async () => {
  const { ana, app, call, clock, events, id, mira, plan, tool } = await team();
  const [task, gone] = [await plan('Retry failed uploads', ana), await plan('Export the billing ledger', ana)];
  const claim_id = await id('claim_id', 'claim', { repo, paths: ['src/a.ts'] }, ana);
  const handoff_id = await id('handoff_id', 'handoff', { to: 'mira', message: 'Yours.', task_ids: [task, gone], claim_ids: [claim_id] }, ana);
  const edit = async (by: TestCaller) => (await tool('covibe_task', { operation: 'update', task_id: task, priority: 'high' }, by)).reply.status;
  expect([await edit(ana), await edit(mira)]).toEqual(['ok', 'error']);
  const foreign = await call('accept_handoff', { handoff_id }, ana);
  expect(foreign).toMatchObject({ status: 'error', code: 'HANDOFF_NOT_FOUND', data: { field: 'handoff_id' } });
  expect(await call('accept_handoff', { handoff_id: 'handoff_none' }, ana)).toEqual(JSON.parse(JSON.stringify(foreign).replaceAll(handoff_id, 'handoff_none')));

  await tool('covibe_task', { operation: 'cancel', task_id: gone, reason: 'no longer needed' }, ana);
  const accepted = await call('accept_handoff', { handoff_id }, mira);
  expect(accepted).toMatchObject({ status: 'ok', data: { from: 'ana', message: 'Yours.', task_ids: [task], claim_ids: [claim_id], not_taken: [gone] } });
  expect([await edit(ana), await edit(mira)]).toEqual(['error', 'ok']);
  expect(await liveClaims(app.store.reader, mira.principal.workspace, mira.principal, clock.now())).toMatchObject([
    { claim_id, developer: 'mira', agent_type: 'codex', own: true },
  ]);
  expect(await call('claim', { repo, paths: ['src/a.ts'] }, ana)).toMatchObject({ code: 'CLAIM_CONFLICT' });
  const again = await call('accept_handoff', { handoff_id }, mira);
  expect(again).toMatchObject({ status: 'warning', code: 'HANDOFF_ALREADY_ACCEPTED', data: accepted.data });
  expect(await events({ kind: 'handoff.accepted' })).toMatchObject([{ subject: handoff_id, actor: mira.principal.actor, payload: { task_ids: [task] } }]);
});

test('an agent can hand over only tasks and live claims of its own developer', async () => {
  const { ana, call, id, mira, plan } = await team();
  const task = await plan('Retry failed uploads', mira);
  const claim_id = await id('claim_id', 'claim', { repo, paths: ['src/a.ts'] }, mira);
  const offer = { to: 'mira', message: 'x' };
  expect(await call('handoff', { ...offer, task_ids: [task] }, ana)).toMatchObject({ code: 'TASK_NOT_FOUND', data: { field: 'task_ids' } });
  expect(await call('handoff', { ...offer, claim_ids: [claim_id] }, ana)).toMatchObject({ code: 'CLAIM_NOT_FOUND', data: { field: 'claim_ids' } });
});

test('a claim is not handed over if it would conflict with a claim that stays with the giver', async () => {
  const { ana, call, id, mira } = await team();
  const [wide, narrow] = [await id('claim_id', 'claim', { repo, paths: ['src/**'] }, ana), await id('claim_id', 'claim', { repo, paths: ['src/a.ts'] }, ana)];
  const one = await id('handoff_id', 'handoff', { to: 'mira', message: 'x', claim_ids: [narrow] }, ana);
  expect(await call('accept_handoff', { handoff_id: one }, mira)).toMatchObject({ data: { claim_ids: [], not_taken: [narrow] } });
  const both = await id('handoff_id', 'handoff', { to: 'mira', message: 'x', claim_ids: [narrow, wide] }, ana);
  expect(await call('accept_handoff', { handoff_id: both }, mira)).toMatchObject({ data: { claim_ids: [wide, narrow], not_taken: [] } });
});

test('a handoff gives nobody more claims than the limit per developer', async () => {
  const { ana, call, id, mira } = await team();
  for (let i = 0; i < 199; i++) await call('claim', { repo, paths: [`f${i}`] }, mira);
  const claim_ids = [await id('claim_id', 'claim', { repo, paths: ['a'] }, ana), await id('claim_id', 'claim', { repo, paths: ['b'] }, ana)];
  const handoff_id = await id('handoff_id', 'handoff', { to: 'mira', message: 'x', claim_ids }, ana);
  expect(await call('accept_handoff', { handoff_id }, mira)).toMatchObject({ data: { claim_ids: [claim_ids[0]], not_taken: [claim_ids[1]] } });
});

test('only agents of the addressed type can accept a handoff to one type', async () => {
  const { ana, call, developer, id, mira } = await team();
  const handoff_id = await id('handoff_id', 'handoff', { to: 'codex@mira', message: 'x' }, ana);
  expect(await call('accept_handoff', { handoff_id }, await developer('mira', 'cursor'))).toMatchObject({ code: 'HANDOFF_NOT_FOUND' });
  expect(await call('accept_handoff', { handoff_id }, mira)).toMatchObject({ status: 'ok' });
});

test('a claim listener gets the files that a new claim names, and nothing for a renewal', async () => {
  // This is a set, because the listener runs in a transaction, and a transaction may run more than once.
  const heard = new Set<string>();
  const told: ClaimListener = async (_tx, _ctx, claim) => void heard.add(JSON.stringify(claim));
  // The same tool is registered again under another name, because only this one calls the listener of the test.
  const listening = claimTools(told).map((one) => ({ ...one, contract: { ...one.contract, name: 'covibe_heard_claims' } }));
  const { ana, tool } = await team([{ name: 'heard-claims', implementations: listening }]);
  const { session_id } = (await tool('covibe_session', { operation: 'start' }, ana)).reply.data as { session_id: string };
  const claim = (paths: string[], session: object) => tool('covibe_heard_claims', { operation: 'claim', repo, paths, ...session }, ana);
  await claim(['src/a.ts', 'src/*.md'], { session_id });
  await claim(['src/a.ts', 'src/*.md'], { session_id });
  await claim(['docs/**'], {});
  expect([...heard].map((claim) => JSON.parse(claim))).toEqual([{ sessionId: session_id, files: ['src/a.ts'] }]);
});

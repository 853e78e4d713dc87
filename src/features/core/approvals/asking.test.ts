import { expect, test, vi } from 'vitest';
import type { Exchange, Json } from '../../../kernel/relay.ts';
import { type HeldApp, held, listed, listening, waiting, wentThrough } from '../../../testing/scenes/approvals.ts';
import { legacy, modern } from '../../../testing/stand-ins/relay.ts';
import { until } from '../../../testing/until.ts';

/** Makes a call of Ana, and returns the question that her client gets and a function that repeats the call with her answer. */
async function asked(t: HeldApp) {
  const { result } = (await t.write({ path: 'a' }, { exchange: modern() })).relayed as { result: Json };
  const requestState = result.requestState as string;
  const answering = (action: string, content?: object, own: object = {}) =>
    modern({ requestState, inputResponses: { covenant_approval: { action, ...(content && { content }) }, ...own } });
  return { result, answering };
}

test('a client of the newer revisions gets the question as a result if the grant allows it, and its answer decides [harden.approval.client-opt-in]', async () => {
  const t = await held({ approve: 'client' });
  const { result, answering } = await asked(t);
  const [item] = await listed(t);
  expect(result).toEqual({
    resultType: 'input_required',
    requestState: `cva_${item?.approval_id}`,
    inputRequests: {
      covenant_approval: {
        method: 'elicitation/create',
        params: {
          mode: 'form',
          message: expect.stringContaining('far_write?\nArguments: {"path":"a"}'),
          requestedSchema: { type: 'object', properties: { approve: expect.objectContaining({ type: 'boolean' }) }, required: ['approve'] },
        },
      },
    },
  });
  // Repeating the call returns the same question.
  expect((await t.write({ path: 'a' }, { exchange: modern() })).relayed).toEqual({ result });
  wentThrough(await t.write({ path: 'a' }, { exchange: answering('accept', { approve: true }, { theirs: { action: 'accept' } }) }));
  expect(t.exchanges[0]?.rounds).toEqual({ inputResponses: { theirs: { action: 'accept' } } });
  expect(await listed(t, 'used')).toMatchObject([{ decided_by: 'ana', decided_through: 'elicitation' }]);
  expect(await t.events({ kind: 'approval.approved' })).toMatchObject([{ actor: t.ana.principal.actor, payload: { through: 'elicitation' } }]);
  const usage = (await t.events({ category: 'usage', kind: 'far_write' })).map(({ payload }) => [payload.outcome, payload.approval_id ?? null]);
  expect(usage).toEqual([
    ['input_required', null],
    ['input_required', null],
    ['ok', item?.approval_id],
  ]);
  // The same answer, sent again, lets no second call through.
  expect((await t.write({ path: 'a' }, { exchange: answering('accept', { approve: true }) })).reply).toMatchObject({ code: 'APPROVAL_UNKNOWN' });
  expect(t.made).toHaveLength(1);
});

test.each([
  ['decline', undefined],
  ['accept', { approve: false }],
])('the answer %s %j refuses the call', async (action, content) => {
  const t = await held({ approve: 'client' });
  const { answering } = await asked(t);
  expect((await t.write({ path: 'a' }, { exchange: answering(action, content) })).reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
  expect(t.made).toEqual([]);
});

test("`requestState` of another caller's approval, of another call or of no approval is refused and decides nothing", async () => {
  const t = await held({ approve: 'client' });
  const ben = await t.developer('ben', 'codex');
  await t.grant(ben);
  const { answering } = await asked(t);
  const exchange = answering('accept', { approve: true });
  const ofNone = modern({ ...exchange.rounds, requestState: 'cva_apr_00000000000000000000000000' });
  const attempts = [
    t.write({ path: 'a' }, { exchange, principal: ben.principal }),
    t.write({ path: 'b' }, { exchange }),
    t.write({ path: 'a' }, { exchange: ofNone }),
  ];
  for (const answer of await Promise.all(attempts)) expect(answer.reply).toMatchObject({ code: 'APPROVAL_UNKNOWN' });
  expect(t.made).toEqual([]);
  expect(await listed(t)).toHaveLength(1);
});

test('a client of the older revisions is asked in its session if the grant allows it, and the first decision counts [harden.approval.client-opt-in]', async () => {
  const t = await held({ approve: 'client' });
  const answers: ((answer: Json) => void)[] = [];
  const aborted: unknown[] = [];
  const ask: NonNullable<Exchange['ask']> = (method, params, signal) => {
    expect([method, params.mode]).toEqual(['elicitation/create', 'form']);
    return new Promise((resolve, reject) => {
      answers.push(resolve);
      signal.addEventListener('abort', () => {
        aborted.push(params.message);
        reject(signal.reason);
      });
    });
  };
  const first = t.write({ path: 'a' }, { exchange: legacy(ask) });
  await until(() => expect(answers).toHaveLength(1));
  answers[0]?.({ action: 'accept', content: { approve: true } });
  wentThrough(await first);
  expect(await listed(t, 'used')).toMatchObject([{ decided_through: 'elicitation' }]);
  const second = t.write({ path: 'b' }, { exchange: legacy(ask) });
  await until(() => expect(answers).toHaveLength(2));
  await t.done('approvals.refuse', { approval_id: (await waiting(t)).approval_id });
  expect((await second).reply).toMatchObject({ code: 'APPROVAL_REFUSED' });
  expect(aborted).toContainEqual(expect.stringContaining('"b"'));
});

test('if a client fails to ask its user, people at the server still decide', async () => {
  const t = await held({ approve: 'client' });
  const ask = vi.fn<NonNullable<Exchange['ask']>>().mockResolvedValueOnce({ action: 'cancel' }).mockRejectedValueOnce(new Error('no window'));
  const clients: Exchange[] = [
    legacy(ask),
    legacy(ask),
    { capabilities: { elicitation: { url: {} } }, meta: {}, rounds: {} },
    { capabilities: {}, meta: {}, rounds: {} },
  ];
  for (const [index, client] of clients.entries()) {
    const { exchange, waits } = listening(t, client);
    const call = t.write({ index }, { exchange });
    await waits();
    await t.done('approvals.approve', { approval_id: (await waiting(t)).approval_id });
    wentThrough(await call);
  }
  expect(ask).toHaveBeenCalledTimes(2);
});

test('without the client option, a client is not asked and its answers do not count: a person decides [harden.approval.no-self-approval] [harden.approval.person-decides]', async () => {
  const t = await held();
  const ask = vi.fn<NonNullable<Exchange['ask']>>().mockResolvedValue({ action: 'accept', content: { approve: true } });
  const yes = { covenant_approval: { action: 'accept', content: { approve: true } } };
  const first = t.write({ path: 'a' }, { exchange: { ...legacy(ask), rounds: { inputResponses: yes } } });
  const { approval_id } = await waiting(t);
  // The client knows or invents an approval id, and sends an answer to a question that nobody asked.
  const { exchange, waits } = listening(t, modern({ requestState: `cva_${approval_id}`, inputResponses: yes }));
  const forged = t.write({ path: 'a' }, { exchange });
  await waits();
  const unknown = modern({ requestState: 'cva_apr_00000000000000000000000000', inputResponses: yes });
  expect((await t.write({ path: 'a' }, { exchange: unknown })).reply).toMatchObject({ code: 'APPROVAL_UNKNOWN' });
  expect([t.made, await listed(t, 'approved'), ask.mock.calls]).toEqual([[], [], []]);
  await t.done('approvals.approve', { approval_id });
  // Two equal calls were waiting. The approval lets only one of them through.
  await until(() => expect(t.made).toHaveLength(1));
  const [used] = await listed(t, 'used');
  expect(used).toMatchObject({ decided_by: 'operator', decided_through: 'api' });
  const [approved] = await t.events({ kind: 'approval.approved' });
  expect(approved).toMatchObject({ actor: 'operator', subject: approval_id, payload: { through: 'api', token_id: t.ana.tokenId } });
  for (const { approval_id: left } of await listed(t)) await t.done('approvals.refuse', { approval_id: left });
  await Promise.allSettled([first, forged]);
});

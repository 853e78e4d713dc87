import { expect, test } from 'vitest';
import { type TestCaller, testApp } from '../../../testing/app.ts';
import type { ShownClaim } from './contract.ts';

const MINUTE = 60_000;
const asPerson = (caller: TestCaller, operator = false): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true, operator } });

async function claimed() {
  const app = await testApp();
  const [ana, codex] = [await app.developer('ana'), await app.developer('mira', 'codex')];
  const mira = await app.developer('mira');
  const claim = async (repo: string, path: string, by: TestCaller) =>
    ((await app.tool('covibe_coordination', { operation: 'claim', repo, paths: [path] }, by)).reply.data as { claim_id: string }).claim_id;
  const list = async (filter: object = {}, by = asPerson(ana)) =>
    (await app.done('claims.list', filter, by)) as unknown as { items: ShownClaim[]; more: boolean; total: number };
  const show = async (id: string, by = asPerson(ana)) => ((await app.done('claims.show', { claim_id: id }, by)) as { claim: ShownClaim }).claim;
  return { ...app, ana, mira, codex, claim, list, show };
}

test('people see live claims in pages, of one repository or only their own, and which claims they may release', async () => {
  const t = await claimed();
  const first = await t.claim('git@github.com:acme/shop.git', 'src/**', t.codex);
  const second = await t.claim('acme/app', 'docs', t.ana);
  expect(await t.list({ limit: 1 })).toMatchObject({ more: true, total: 2, items: [{ claim_id: second, own: true, may_release: true }] });
  expect(await t.list({ limit: 1, before: second })).toMatchObject({ more: false, total: 2, items: [{ claim_id: first, own: false, may_release: false }] });
  expect((await t.list({}, asPerson(t.ana, true))).items.map(({ may_release }) => may_release)).toEqual([true, true]);
  expect(await t.list({ repository: 'shop' })).toMatchObject({ total: 1, items: [{ claim_id: first, developer: 'mira', agent_type: 'codex' }] });
  expect(await t.list({ mine: true })).toMatchObject({ total: 1, items: [{ claim_id: second }] });
  expect((await t.show(first.slice(-8))).agent_id).toBe(`codex@${t.codex.principal.developerId}`);
  await t.done('developers.set_visibility', { developer: 'mira', visibility: 'private' });
  expect(await t.show(first)).toMatchObject({ developer: '@private', agent_type: null, agent_id: null });
  t.clock.advance(61 * MINUTE);
  expect(await t.list()).toEqual({ items: [], more: false, total: 0 });
  expect(await t.show(first)).toMatchObject({ state: 'expired', may_release: false, ended_at: expect.any(Number) });
});

test('a person can release claims of their own agents and an operator any claim, but nobody can release a claim twice', async () => {
  const t = await claimed();
  const [first, second] = [await t.claim('acme/app', 'src', t.codex), await t.claim('acme/app', 'docs', t.codex)];
  const release = async (id: string, by: TestCaller) => (await t.action('claims.release', { claim_id: id }, by)).reply;
  expect(await release(first, t.codex)).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  expect(await release(first, asPerson(t.ana))).toMatchObject({ code: 'OPERATOR_REQUIRED', message: 'Another developer holds this claim.' });
  expect(await release(first, asPerson(t.mira))).toMatchObject({ status: 'ok' });
  expect(await release(first, asPerson(t.mira))).toMatchObject({ status: 'error', code: 'CLAIM_ALREADY_RELEASED' });
  expect(await release(second.slice(-8), asPerson(t.ana, true))).toMatchObject({ status: 'ok' });
  expect(await t.show(second)).toMatchObject({ state: 'released', may_release: false });
  expect((await t.events({ kind: 'claim.released' })).map(({ actor, subject }) => [actor, subject])).toEqual([
    [`developer:${t.mira.principal.developerId}`, first],
    [`developer:${t.ana.principal.developerId}`, second],
  ]);
  expect(await t.claim('acme/app', 'src', t.ana)).toMatch(/^claim_/);
  expect(await release('claim_0', asPerson(t.ana))).toMatchObject({ code: 'CLAIM_NOT_FOUND' });
});

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AnchorKeeper } from '../../../storage/anchors/keeper.ts';
import type { AnchorRecord } from '../../../storage/anchors/record.ts';
import { type TestApp, testApp } from '../../../testing/app.ts';
import { until } from '../../../testing/until.ts';

const MINUTE_MS = 60_000;

const made = (t: TestApp, count: number, workspace = t.operator.principal.workspace) =>
  t.app.store.append(
    workspace,
    Array.from({ length: count }, () => ({ category: 'work' as const, kind: 'note.made', actor: 'operator' })),
  );

function anchorsOf(t: TestApp, workspace = 'default'): AnchorRecord[] {
  const path = join(t.database.home, 'anchors', `${workspace}.jsonl`);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as AnchorRecord]));
}

const seqs = (t: TestApp, workspace?: string) => anchorsOf(t, workspace).map(({ seq }) => seq);

test("the server anchors each workspace's journal immediately, then after 1,000 events, or after 10 minutes with new events [harden.anchor.automatic] [harden.anchor.signed-file]", async () => {
  const t = await testApp();
  const first = await made(t, 3);
  t.clock.advance(2_000);
  await until(() => expect(seqs(t)).toEqual([first]));

  await made(t, 999);
  t.clock.advance(2_000);
  const other = await made(t, 1, 'ws_shop');
  t.clock.advance(2_000);
  await until(() => expect(seqs(t, 'shop')).toEqual([other]));
  expect(seqs(t)).toEqual([first]);
  const thousandth = await made(t, 1);
  t.clock.advance(2_000);
  await until(() => expect(seqs(t)).toEqual([first, thousandth]));

  const lone = await made(t, 1);
  t.clock.advance(9 * MINUTE_MS);
  t.clock.advance(MINUTE_MS);
  await until(() => expect(seqs(t)).toEqual([first, thousandth, lone]));
  t.clock.advance(60 * MINUTE_MS);
  await made(t, 1, 'ws_shop');
  t.clock.advance(60 * MINUTE_MS);
  await until(() => expect(seqs(t, 'shop')).toHaveLength(2));
  expect(seqs(t)).toEqual([first, thousandth, lone]);

  const [last] = (await t.events()).slice(-1);
  expect(anchorsOf(t).at(-1)).toMatchObject({ kind: 'anchor', workspace: 'ws_default', seq: lone, hash: last?.hash, time: last?.time });
  const unanchored = await made(t, 2);
  await t.app.close();
  expect(seqs(t).at(-1)).toBe(unanchored);
});

test('setting the clock back does not stop anchors', async () => {
  const t = await testApp();
  const first = await made(t, 3);
  t.clock.advance(60 * MINUTE_MS);
  await until(() => expect(seqs(t)).toEqual([first]));
  const second = await made(t, 1);
  t.clock.advance(-50 * MINUTE_MS);
  t.clock.advance(2_000);
  await until(() => expect(seqs(t)).toEqual([first, second]));
});

test('a journal that disagrees with its last anchor gets no further anchor, and the log reports it once', async () => {
  const t = await testApp();
  const seq = await made(t, 5);
  t.clock.advance(2_000);
  await until(() => expect(seqs(t)).toEqual([seq]));
  await t.app.store.engine.transaction('ws_default', async (db) => {
    await db
      .updateTable('events')
      .set({ hash: 'f'.repeat(64) })
      .where('workspace_id', '=', 'ws_default')
      .where('seq', '=', seq)
      .execute();
  });
  await made(t, 2_000);
  for (let moves = 0; moves < 3; moves++) t.clock.advance(2_000);
  const complaints = () => t.logged.filter((line) => line.includes('journal not anchored'));
  await until(() => expect(complaints()).toHaveLength(1));
  expect(seqs(t)).toEqual([seq]);
  const { reply } = await t.action('journal.anchor', {});
  expect(reply).toMatchObject({ code: 'JOURNAL_BROKEN' });
  // A person confirms the restored journal in the server's home, not with a call to the server. Then anchoring continues.
  expect((await t.action('journal.anchor', { after_restore: true })).reply).toMatchObject({ status: 'error' });
  expect(seqs(t)).toEqual([seq]);
  const { record } = await new AnchorKeeper(t.database.home, undefined).replaced(t.app.store.reader, 'ws_default', 'restored', t.clock.now());
  expect(record).toMatchObject({ kind: 'restored', keeps: 0 });
  expect(await t.done('journal.anchor', {})).toMatchObject({ anchor: { kind: 'anchor' } });
});

test('a prune is signed and lies between two anchors; only the operator of the server prunes, anchors and rotates the key [harden.prune.operator-only] [harden.anchor.cli]', async () => {
  const t = await testApp();
  await made(t, 20);
  t.clock.advance(40 * 24 * 60 * MINUTE_MS);
  await until(() => expect(seqs(t)).toHaveLength(1));
  const cut = await made(t, 1);
  const admin = { ...t.operator, principal: { ...t.operator.principal, kind: 'developer' as const, web: true, operator: true, subjects: [] } };
  for (const [name, args] of [
    ['journal.prune', { keep_days: 1 }],
    ['journal.anchor', {}],
    ['journal.rotate_key', {}],
  ] as const) {
    const { reply } = await t.action(name, args, admin);
    expect([name, reply.status, (reply as { code?: string }).code]).toEqual([name, 'error', 'OPERATOR_REQUIRED']);
  }
  expect(await t.events({ kind: 'journal.pruned' })).toEqual([]);
  await t.done('journal.prune', { keep_days: 1 });
  const [before, signed, after] = anchorsOf(t).slice(-3);
  const [pruned] = await t.events({ kind: 'journal.pruned' });
  expect(signed).toMatchObject({ kind: 'pruned', seq: pruned?.payload.through_seq, hash: pruned?.payload.root });
  expect(before?.seq).toBeGreaterThanOrEqual(cut);
  expect(after?.seq).toBeGreaterThanOrEqual(pruned?.seq ?? Number.POSITIVE_INFINITY);
});

test('after a rotation, anchors are signed with the new key; an unreadable key is a fault', async () => {
  const t = await testApp();
  await made(t, 1);
  const { anchor: first } = (await t.done('journal.anchor', {})) as { anchor: AnchorRecord };
  expect(await t.done('journal.rotate_key', {})).toMatchObject({ previous: first.key });
  const { anchor: second } = (await t.done('journal.anchor', {})) as { anchor: AnchorRecord };
  expect(second.key).not.toBe(first.key);
  writeFileSync(join(t.database.home, 'anchors', 'anchor.key'), 'no key');
  expect((await t.action('journal.anchor', {})).reply).toMatchObject({ code: 'INTERNAL' });
});

test('the dashboard’s verification also finds a truncated journal', async () => {
  const t = await testApp();
  const seq = await made(t, 10);
  await t.done('journal.anchor', {});
  const look = async () =>
    (await t.app.dispatch.action({ name: 'events.verify', args: {}, principal: { ...t.operator.principal, web: true }, surface: 'dashboard' })).reply.data;
  expect(await look()).toMatchObject({ first_break: null, done: true });
  await t.app.store.engine.transaction('ws_default', async (db) => {
    await db
      .deleteFrom('events')
      .where('workspace_id', '=', 'ws_default')
      .where('seq', '>', seq - 3)
      .execute();
    const last = await db
      .selectFrom('events')
      .select(['seq', 'hash'])
      .where('workspace_id', '=', 'ws_default')
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow();
    await db.updateTable('journal_heads').set(last).where('workspace_id', '=', 'ws_default').execute();
  });
  expect(await look()).toMatchObject({ first_break: { seq: seq - 2, reason: expect.stringContaining('is missing') } });
  t.clock.advance(1);
  await made(t, 10);
  expect(await look()).toMatchObject({ first_break: { seq: seq - 2, reason: expect.stringContaining('replaced another') } });
});

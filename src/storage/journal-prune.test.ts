import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openTestStore } from '../testing/store/store.ts';
import { ChainVerifier } from './chain-verifier.ts';
import { firstSeqSince, readAnchor, readEvents, readHead } from './journal.ts';
import { countBeforeAnchor, cutJournal, PruneWalk, removeBatch } from './journal-prune.ts';
import type { Store } from './open.ts';

const W = 'ws_test';

/** Event n happens at 10n. */
async function journal(count: number): Promise<Store> {
  let now = 0;
  const store = await openTestStore(undefined, { now: () => now });
  for (let n = 1; n <= count; n++) {
    now = 10 * n;
    await store.append(W, [{ category: 'work', kind: `kind.${n}`, actor: 'tester', payload: { n } }]);
  }
  return store;
}

async function verify({ reader }: Store) {
  const anchor = await readAnchor(reader, W);
  const verifier = new ChainVerifier(anchor);
  for (const event of await readEvents(reader, W, anchor.seq, 100_000)) verifier.add(event);
  return verifier.finish(await readHead(reader, W), anchor);
}

async function walk({ reader }: Store, before: number): Promise<PruneWalk> {
  const walked = new PruneWalk(await readAnchor(reader, W), before);
  const head = (await readHead(reader, W))?.seq ?? 0;
  while (!walked.isDone) await walked.step(reader, W, head);
  return walked;
}

const cutAt = async (store: Store, before: number) => {
  const walked = await walk(store, before);
  return await store.write(W, (tx) => cutJournal(tx, walked, 'operator'));
};
const removeAll = async (store: Store) => {
  while ((await removeBatch((callback) => store.write(W, callback))) > 0);
};
const seqs = async (store: Store) => (await readEvents(store.reader, W, 0, 100_000)).map(({ seq }) => seq);
const tamper = (store: Store, statement: string) => store.engine.transaction(W, (db) => sql.raw(statement).execute(db));

test('a pruned journal begins after its anchor, an event confirms the anchor, and the chain can be verified after every step [audit.journal.append-only]', async () => {
  const store = await journal(8);
  const root = (await readEvents(store.reader, W, 4, 1))[0]?.hash;
  expect(await cutAt(store, 55)).toBe(true);
  expect(await verify(store)).toMatchObject({ valid: true, events: 4 });
  expect(await countBeforeAnchor(store.reader, W, { seq: 5, hash: '' })).toBe(5);
  await removeAll(store);
  expect(await seqs(store)).toEqual([6, 7, 8, 9]);
  expect(await readAnchor(store.reader, W)).toMatchObject({ seq: 5, hash: root });
  expect((await readEvents(store.reader, W, 8, 1))[0]).toMatchObject({
    category: 'audit',
    kind: 'journal.pruned',
    actor: 'operator',
    payload: { through_seq: 5, root, events: 5, before: 55 },
  });
  expect(await verify(store)).toMatchObject({ valid: true, events: 4 });
  // Prunes again, including the event that attested the first cut.
  await store.append(W, [{ category: 'work', kind: 'later', actor: 'a' }]);
  expect(await cutAt(store, 1_000)).toBe(true);
  await removeAll(store);
  expect(await seqs(store)).toEqual([10, 11]);
  expect(await verify(store)).toMatchObject({ valid: true, events: 2 });
});

test('a prune stops at the first event that is not old enough, and always before the newest event, even if the clock was set back', async () => {
  let now = 0;
  const store = await openTestStore(undefined, { now: () => now });
  for (now of [10, 20, 90, 30, 40]) await store.append(W, [{ category: 'work', kind: 'k', actor: 'a' }]);
  expect((await walk(store, 50)).reached).toMatchObject({ seq: 2, firstBreak: null });
  expect((await walk(store, 1_000)).reached).toMatchObject({ seq: 4, firstBreak: null });
  expect((await walk(store, 10)).reached.seq).toBe(0);
});

test('detects a break among the events to prune, and a journal whose end is missing', async () => {
  const changed = await journal(8);
  await tamper(changed, `update events set payload = '{"n":9}' where seq = 3`);
  expect((await walk(changed, 55)).reached).toMatchObject({ seq: 2, firstBreak: { seq: 3 } });
  expect((await walk(changed, 25)).reached).toMatchObject({ seq: 2, firstBreak: null });
  const lost = await journal(8);
  await tamper(lost, 'delete from events where seq > 4');
  expect((await walk(lost, 1_000)).reached.firstBreak).toMatchObject({ seq: 5, reason: expect.stringMatching(/head is at 8/) });
});

test('detects that events at the beginning were deleted and the anchor was forged, because no event confirms the anchor', async () => {
  const store = await journal(8);
  const [fourth] = await readEvents(store.reader, W, 3, 1);
  await tamper(store, `insert into journal_anchors (workspace_id, seq, hash, time) values ('${W}', 4, '${fourth?.hash}', 40)`);
  await tamper(store, 'delete from events where seq <= 4');
  expect(await verify(store)).toMatchObject({ valid: false, firstBreak: { seq: 4, reason: expect.stringMatching(/no event attests/) } });
  // The anchor of a real cut must not be movable either.
  const cutOnce = await journal(8);
  await cutAt(cutOnce, 35);
  await removeAll(cutOnce);
  const [fifth] = await readEvents(cutOnce.reader, W, 4, 1);
  await tamper(cutOnce, `update journal_anchors set seq = 5, hash = '${fifth?.hash}'`);
  await tamper(cutOnce, 'delete from events where seq <= 5');
  expect(await verify(cutOnce)).toMatchObject({ valid: false, firstBreak: { seq: 5 } });
});

test('only one of two concurrent prunes cuts the journal, and the other must verify it again', async () => {
  const store = await journal(8);
  const [one, other] = [await walk(store, 35), await walk(store, 55)];
  const cuts = await Promise.all([one, other].map((each) => store.write(W, (tx) => cutJournal(tx, each, 'operator'))));
  expect(cuts).toEqual([true, false]);
  expect(await verify(store)).toMatchObject({ valid: true });
  expect((await readEvents(store.reader, W, 8, 10)).map(({ kind }) => kind)).toEqual(['journal.pruned']);
});

test('lookups by time work in a pruned journal, and a follower whose position was pruned continues after the anchor', async () => {
  const store = await journal(8);
  await cutAt(store, 55);
  for (const since of [0, 35, 60]) expect(await firstSeqSince(store.reader, W, since)).toBe(6);
  await removeAll(store);
  for (const since of [0, 35, 60]) expect(await firstSeqSince(store.reader, W, since)).toBe(6);
  expect(await firstSeqSince(store.reader, W, 65)).toBe(7);
  for await (const page of store.follow(W, 2, new AbortController().signal)) {
    expect(page.map(({ seq }) => seq)).toEqual([6, 7, 8, 9]);
    break;
  }
});

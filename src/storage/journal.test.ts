import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { CompiledQuery, sql } from 'kysely';
import { expect, test } from 'vitest';
import { openTestStore } from '../testing/store/store.ts';
import { ChainVerifier } from './chain-verifier.ts';
import { eventsAbout, type JournalEvent, MAX_PAYLOAD_BYTES, readEvents, readHead } from './journal.ts';
import type { Store } from './open.ts';

const W = 'ws_test';

async function storeWith(count: number): Promise<Store> {
  const store = await openTestStore();
  for (let i = 1; i <= count; i++) {
    await store.append(W, [{ category: 'work', kind: `kind.${i}`, actor: 'tester', subject: `s${i}`, payload: { n: i, text: 'ü' } }]);
  }
  return store;
}

async function verify(store: Store) {
  const verifier = new ChainVerifier();
  for (const event of await readEvents(store.reader, W, 0, 1_000)) verifier.add(event);
  return verifier.finish(await readHead(store.reader, W));
}

test('an event has seq, category, kind, actor, subject, session, payload, time and hash [audit.journal.fields]', async () => {
  const store = await openTestStore(undefined, { now: () => 1_234 });
  await store.append(W, [{ category: 'feedback', kind: 'k', actor: 'a', subject: 's', session: 'ses_1', payload: { x: 1 } }]);
  const [event] = await readEvents(store.reader, W, 0, 1);
  expect(event).toEqual({
    seq: 1,
    category: 'feedback',
    kind: 'k',
    actor: 'a',
    subject: 's',
    session: 'ses_1',
    payload: { x: 1 },
    time: 1_234,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('a hash is the SHA-256 of the previous hash and the event as RFC 8785 JSON, so anyone can check an export [audit.journal.hash-chain]', async () => {
  const store = await storeWith(3);
  let previous = '0'.repeat(64);
  for (const { hash, ...event } of await readEvents(store.reader, W, 0, 10)) {
    expect(hash).toBe(
      createHash('sha256')
        .update(previous + canonicalize(event))
        .digest('hex'),
    );
    previous = hash;
  }
});

test('replaces a payload over the limit with its size and digest [audit.journal.payload-bounded]', async () => {
  const store = await openTestStore();
  await store.append(W, [{ category: 'work', kind: 'big', actor: 'a', payload: { text: 'x'.repeat(MAX_PAYLOAD_BYTES) } }]);
  await store.append(W, [{ category: 'work', kind: 'small', actor: 'a', payload: { text: 'x'.repeat(100) } }]);
  const [big, small] = await readEvents(store.reader, W, 0, 2);
  expect(big?.payload).toEqual({ truncated: true, bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(small?.payload).toEqual({ text: 'x'.repeat(100) });
  expect(await verify(store)).toMatchObject({ valid: true });
});

test('redacts a token anywhere in an event, and the chain still verifies', async () => {
  const store = await openTestStore();
  const token = `cv_${'A'.repeat(43)}`;
  await store.append(W, [{ category: 'work', kind: token, actor: 'a', subject: `x ${token}`, payload: { b: token, [token]: 1, a: [token] } }]);
  const events = await readEvents(store.reader, W, 0, 1);
  expect(JSON.stringify(events)).not.toContain(token);
  expect(events[0]?.payload).toEqual({ a: ['cv_[redacted]'], b: 'cv_[redacted]', 'cv_[redacted]': 1 });
  expect(await verify(store)).toMatchObject({ valid: true });
});

/** Changes that someone with access to the database could make, and the event at which each must be reported. */
const TAMPERING: [string, (store: Store) => Promise<unknown>, number][] = [
  ['a changed payload', (store) => tamper(store, `update events set payload = '{"n":9}' where seq = 4`), 4],
  ['a payload that is not JSON', (store) => tamper(store, `update events set payload = '{bad' where seq = 4`), 4],
  ['a payload in another form', (store) => tamper(store, `update events set payload = replace(payload, ':', ': ') where seq = 4`), 4],
  ['a changed kind', (store) => tamper(store, `update events set kind = 'other' where seq = 4`), 4],
  ['a changed time', (store) => tamper(store, 'update events set time = time + 1 where seq = 4'), 4],
  ['a removed row', (store) => tamper(store, 'delete from events where seq = 4'), 4],
  ['a removed tail', (store) => tamper(store, 'delete from events where seq > 6'), 7],
  ['an inserted row', (store) => tamper(store, insertAt(9)), 9],
  ['a rewritten hash', (store) => tamper(store, `update events set hash = '${'a'.repeat(64)}' where seq = 2`), 2],
];

const insertAt = (seq: number) =>
  `insert into events (workspace_id, seq, category, kind, actor, subject, session, payload, time, hash) values ('${W}', ${seq}, 'work', 'forged', 'x', null, null, '{}', 1, '${'b'.repeat(64)}')`;

const tamper = (store: Store, statement: string) => store.engine.transaction(W, (db) => sql.raw(statement).execute(db));

test.each(TAMPERING)('%s is reported as the first break [audit.verify.first-break]', async (_what, change, at) => {
  const store = await storeWith(8);
  expect(await verify(store)).toMatchObject({ valid: true, events: 8 });
  await change(store);
  const report = await verify(store);
  expect(report.valid).toBe(false);
  expect(report.firstBreak?.seq).toBe(at);
});

test('events are never renumbered: two reads return the same events [audit.journal.append-only]', async () => {
  const store = await storeWith(3);
  const before: JournalEvent[] = await readEvents(store.reader, W, 0, 10);
  await store.append(W, [{ category: 'work', kind: 'later', actor: 'a' }]);
  expect((await readEvents(store.reader, W, 0, 10)).slice(0, 3)).toEqual(before);
});

test('finds events on a few subjects by index, however long the journal is', async () => {
  const store = await storeWith(5);
  const about = eventsAbout(store.reader, W, ['s2', 's4', 's9']).select(['seq', 'payload']).orderBy('seq', 'desc').limit(10);
  expect((await about.execute()).map(({ seq }) => seq)).toEqual([4, 2]);
  if (store.kind !== 'sqlite') return;
  const { sql: text, parameters } = about.compile();
  const { rows } = await store.reader.executeQuery<{ detail: string }>(CompiledQuery.raw(`explain query plan ${text}`, [...parameters]));
  const plan = rows.map(({ detail }) => detail).join('; ');
  expect(plan).toMatch(/events USING PRIMARY KEY \(workspace_id=\? AND seq=\?\)/);
  expect(plan).toMatch(/USING COVERING INDEX events_subject \(workspace_id=\? AND subject=\?\)/);
});

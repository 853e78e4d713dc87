import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { runs } from '../testing/runs.ts';
import { inRun } from '../testing/scope.ts';
import { ENGINE, temporaryDatabase } from '../testing/store/database.ts';
import { openTestStore, refusableStore } from '../testing/store/store.ts';
import { ChainVerifier } from './chain-verifier.ts';
import { StoreBusy, StoreClosed, WriteWithdrawn } from './errors.ts';
import { type NewEvent, readEvents, readHead } from './journal.ts';
import type { Store } from './open.ts';

const W = 'ws_test';
const event = (kind: string): NewEvent => ({ category: 'work', kind, actor: 'tester' });

const addWorkspace = (store: Store, name: string, fail = false) =>
  store.write(W, async (tx) => {
    await tx.db.insertInto('workspaces').values({ id: name, name, created_at: tx.now }).execute();
    tx.append(event(`added.${name}`));
    if (fail) throw new Error(`refused ${name}`);
    return name;
  });

const names = async (store: Store) => (await store.reader.selectFrom('workspaces').select('name').orderBy('name').execute()).map((row) => row.name);
const kinds = async (store: Store) => (await readEvents(store.reader, W, 0, 10_000)).map((row) => row.kind);

test('commits a state change and its events together or not at all [storage.write.atomic] [storage.write.rollback]', async () => {
  const store = await openTestStore();
  await addWorkspace(store, 'kept');
  await expect(addWorkspace(store, 'lost', true)).rejects.toThrow('refused lost');
  expect(await names(store)).toEqual(['kept']);
  expect(await kinds(store)).toEqual(['added.kept']);
});

test('a failed callback in a batch does not affect the others', async () => {
  const store = await openTestStore();
  const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => addWorkspace(store, name, name === 'b')));
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(await names(store)).toEqual(['a', 'c', 'd']);
  expect(await kinds(store)).toEqual(['added.a', 'added.c', 'added.d']);
  expect((await readHead(store.reader, W))?.seq).toBe(3);
});

test('a callback that hides a database error is still rolled back, without affecting other callbacks', async () => {
  const store = await openTestStore();
  await addWorkspace(store, 'taken');
  const hiding = store.write(W, async (tx) => {
    await tx.db.insertInto('workspaces').values({ id: 'x', name: 'x', created_at: 0 }).execute();
    await sql`select no_such_column from workspaces`.execute(tx.db).catch(() => {});
    return 'hidden';
  });
  const other = addWorkspace(store, 'other');
  const [hidden, kept] = await Promise.allSettled([hiding, other]);
  // SQLite's transaction survives a failed statement; PostgreSQL's does not, and must not be reported as committed.
  if (hidden.status === 'fulfilled') expect(await names(store)).toContain('x');
  else expect(await names(store)).not.toContain('x');
  expect(kept.status).toBe('fulfilled');
  expect(await names(store)).toContain('other');
});

test('if the only callback in a transaction hides a database error, it is reported as committed only if it was committed', async () => {
  const store = await openTestStore();
  for (const appends of [true, false]) {
    const hiding = store.write(W, async (tx) => {
      await tx.db
        .insertInto('workspaces')
        .values({ id: 'x', name: 'x', created_at: 0 })
        .onConflict((on) => on.doNothing())
        .execute();
      if (appends) tx.append(event('hidden'));
      await sql`select no_such_column from workspaces`.execute(tx.db).catch(() => {});
    });
    const [{ status }] = await Promise.allSettled([hiding]);
    expect(status).toBe(ENGINE === 'postgres' ? 'rejected' : 'fulfilled');
    expect(await names(store)).toEqual(ENGINE === 'postgres' ? [] : ['x']);
  }
});

test('frequent statements work on a table that was migrated meanwhile', async () => {
  const store = await openTestStore();
  const read = () => store.write(W, (tx) => tx.db.selectFrom('workspaces').selectAll().where('id', '=', 'kept').executeTakeFirst());
  await addWorkspace(store, 'kept');
  for (let time = 0; time < 30; time++) await read();
  try {
    await store.engine.transaction('schema', (db) => sql`alter table workspaces add column added integer`.execute(db));
    expect(await read()).toMatchObject({ id: 'kept', added: null });
    expect(await Promise.all([read(), addWorkspace(store, 'next'), read()])).toMatchObject([{ id: 'kept' }, 'next', { id: 'kept' }]);
  } finally {
    await store.engine.transaction('schema', (db) => sql`alter table workspaces drop column added`.execute(db));
  }
});

test('a reader outside a write never sees uncommitted rows', async () => {
  const store = await openTestStore();
  await store.write(W, async (tx) => {
    await tx.db.insertInto('workspaces').values({ id: 'a', name: 'a', created_at: 0 }).execute();
    expect(await names(store)).toEqual([]);
  });
  expect(await names(store)).toEqual(['a']);
});

test('concurrent read-modify-write in two stores loses no update, and none fails because of a lock [storage.write.concurrent]', async () => {
  const database = await temporaryDatabase();
  const stores = [await openTestStore(database), await openTestStore(database)];
  await stores[0]?.write(W, async (tx) => {
    await tx.db.insertInto('workspaces').values({ id: 'count', name: 'count', created_at: 0 }).execute();
  });
  const increment = (store: Store) =>
    store.write(W, async (tx) => {
      const row = await tx.db.selectFrom('workspaces').select('created_at').where('id', '=', 'count').executeTakeFirstOrThrow();
      await tx.db
        .updateTable('workspaces')
        .set({ created_at: row.created_at + 1 })
        .where('id', '=', 'count')
        .execute();
      tx.append(event('incremented'));
    });
  await Promise.all(Array.from({ length: 200 }, (_, i) => increment(stores[i % 2] as Store)));
  const row = await stores[0]?.reader.selectFrom('workspaces').select('created_at').where('id', '=', 'count').executeTakeFirstOrThrow();
  expect(row?.created_at).toBe(200);
});

test('seq has no gaps if several stores write and some writes fail, and the chain verifies [audit.journal.gap-free] [audit.journal.hash-chain]', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ store: fc.nat(1), fails: fc.boolean(), events: fc.nat(3) }), { minLength: 1, maxLength: 40 }),
      inRun(async (plan) => {
        const database = await temporaryDatabase();
        const stores = [await openTestStore(database), await openTestStore(database)];
        const results = await Promise.allSettled(
          plan.map(({ store, fails, events }, index) =>
            (stores[store] as Store).write(W, async (tx) => {
              const seqs = Array.from({ length: events }, () => tx.append(event(`e${index}`)));
              if (fails) throw new Error('refused');
              return seqs;
            }),
          ),
        );
        const written = await readEvents((stores[0] as Store).reader, W, 0, 10_000);
        expect(written.map((row) => row.seq)).toEqual(written.map((_, index) => index + 1));
        expect(written.length).toBe(plan.filter((step) => !step.fails).reduce((sum, step) => sum + step.events, 0));
        for (const [index, result] of results.entries()) {
          if (result.status === 'fulfilled') for (const seq of result.value) expect(written[seq - 1]?.kind).toBe(`e${index}`);
        }
        const verifier = new ChainVerifier();
        for (const row of written) verifier.add(row);
        expect(verifier.finish(await readHead((stores[1] as Store).reader, W))).toMatchObject({ valid: true, firstBreak: null });
      }),
    ),
    runs(6),
  );
});

test('a follower gets every event once and in order, from any store', async () => {
  const database = await temporaryDatabase();
  const [ours, theirs] = [await openTestStore(database), await openTestStore(database)];
  const stop = new AbortController();
  const seen: number[] = [];
  const following = (async () => {
    for await (const page of ours.follow(W, 0, stop.signal)) {
      seen.push(...page.map((row) => row.seq));
      if (seen.length >= 300) stop.abort();
    }
  })();
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 30 }, (_, i) => (i % 2 ? ours : theirs).append(W, [event('tick')])));
  }
  await following;
  expect(seen).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
});

test("a write does not happen if its caller gave up before the write's turn", async () => {
  const store = await openTestStore();
  const gone = AbortSignal.abort();
  await expect(store.write(W, async (tx) => tx.append(event('late')), gone)).rejects.toBeInstanceOf(WriteWithdrawn);
  expect(await kinds(store)).toEqual([]);
});

test('a caller that gives up while it waits is answered immediately', async () => {
  const store = await openTestStore();
  const leaving = new AbortController();
  const order: string[] = [];
  const first = store.write(W, async (tx) => {
    leaving.abort();
    await tx.db.selectFrom('workspaces').select('id').execute();
    order.push('first done');
  });
  await new Promise<void>((resolve) => setImmediate(resolve));
  const second = store
    .write(W, async (tx) => tx.append(event('late')), leaving.signal)
    .catch((error: unknown) => {
      order.push('second given up');
      return error;
    });
  await Promise.all([first, second]);
  expect(await second).toBeInstanceOf(WriteWithdrawn);
  expect(await kinds(store)).toEqual([]);
});

test.runIf(ENGINE === 'postgres')('a connection lost before the commit is replaced; a statement that takes too long is refused', async () => {
  const database = await temporaryDatabase();
  const store = await openTestStore(database, { statementTimeoutMs: 500 });
  let tries = 0;
  await store.write(W, async (tx) => {
    tries++;
    tx.append(event('survived'));
    if (tries === 1) await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx.db);
  });
  expect(tries).toBe(2);
  expect(await kinds(store)).toEqual(['survived']);
  await expect(store.write(W, async (tx) => void (await sql`select pg_sleep(5)`.execute(tx.db)))).rejects.toBeInstanceOf(StoreBusy);
  await addWorkspace(store, 'after');
});

test.runIf(ENGINE === 'postgres')('retries a database without free connections, then reports it as busy', async () => {
  const { store, refuse, admit } = await refusableStore();
  await addWorkspace(store, 'before');
  await refuse();
  await expect(addWorkspace(store, 'refused')).rejects.toBeInstanceOf(StoreBusy);
  const patient = addWorkspace(store, 'patient');
  await admit();
  await patient;
  expect(await names(store)).toEqual(['before', 'patient']);
});

test('closing the store answers accepted writes and refuses later ones', async () => {
  const store = await openTestStore();
  const accepted = Array.from({ length: 20 }, (_, i) => addWorkspace(store, `n${i}`));
  const closing = store.close();
  expect(await Promise.all(accepted)).toHaveLength(20);
  await closing;
  await expect(addWorkspace(store, 'late')).rejects.toBeInstanceOf(StoreClosed);
});

test('a name with characters that a database cannot store does not affect other writes in the same batch', async () => {
  const store = await openTestStore();
  const hostile = 'tool:\0\ud800';
  const both = await Promise.all([store.append(W, [{ ...event('odd'), subject: hostile }]), addWorkspace(store, 'plain')]);
  expect(both[0]).toBe(1);
  const [odd] = await readEvents(store.reader, W, 0, 1);
  expect(odd?.subject).toBe('tool:\ufffd\ufffd');
});

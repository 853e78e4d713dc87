import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Output } from '../../../kernel/contract.ts';
import { workspaceId } from '../../../kernel/ids.ts';
import { createLog } from '../../../kernel/log.ts';
import { AnchorKeeper } from '../../../storage/anchors/keeper.ts';
import { readAnchor } from '../../../storage/journal.ts';
import { cutJournal, PruneWalk } from '../../../storage/journal-prune.ts';
import { findRows, insertRows } from '../../../storage/rows.ts';
import type { JournalAnchorRow } from '../../../storage/schema-rows.ts';
import { type TestApp, testApp } from '../../../testing/app.ts';
import type { listEvents, pruneJournal, verifyEvents } from './contract.ts';
import { createLeftoverSweep } from './prune.ts';

type Pruned = Output<typeof pruneJournal>;
const DAY_MS = 24 * 3_600_000;

/** A journal of two halves, 80 days apart. The second half starts at `since`. */
async function aged(events = 30) {
  const t = await testApp();
  const { workspace } = t.operator.principal;
  const made = (count: number) =>
    t.app.store.append(
      workspace,
      Array.from({ length: count }, (_, n) => ({ category: 'work' as const, kind: 'note.made', actor: 'operator', subject: `s${n}` })),
    );
  const last = await made(events);
  t.clock.advance(80 * DAY_MS);
  const since = t.clock.now();
  await made(10);
  return { t, workspace, last, since, made };
}

const prune = async (t: TestApp, input: object) => (await t.done('journal.prune', input)) as Pruned;
/** A caller on the dashboard, because reads of the dashboard add no events. */
const look = async <T>(t: TestApp, name: string, args: object) =>
  (await t.app.dispatch.action({ name, args, principal: { ...t.operator.principal, web: true }, surface: 'dashboard' })).reply.data as T;
const listed = (t: TestApp, args: object) => look<Output<typeof listEvents>>(t, 'events.list', args);
const verified = (t: TestApp, args: object = {}) => look<Output<typeof verifyEvents>>(t, 'events.verify', args);

test('a dry run only counts events; a prune deletes older events once, and the journal then verifies from its anchor', async () => {
  const { t, last, since } = await aged();
  const before = await t.events();
  const root = before.find(({ seq }) => seq === last)?.hash;
  expect(await prune(t, { before: since - 31 * DAY_MS, dry_run: true })).toMatchObject({ stage: 'done', pruned: last, anchor: { seq: 0 }, remaining: 0 });
  expect((await t.events()).slice(0, before.length)).toEqual(before);
  expect(await prune(t, { keep_days: 31 })).toMatchObject({ stage: 'done', pruned: last, anchor: { seq: last, hash: root }, remaining: 0 });
  expect((await t.events())[0]?.seq).toBe(last + 1);
  expect(await t.events({ kind: 'journal.pruned' })).toMatchObject([
    { category: 'audit', actor: 'operator', payload: { through_seq: last, root, events: last } },
  ]);
  expect(await verified(t)).toMatchObject({ anchor: { seq: last, hash: root }, first_break: null, done: true });
  expect(await prune(t, { keep_days: 31 })).toMatchObject({ stage: 'done', pruned: 0 });
  expect(await t.events({ kind: 'journal.pruned' })).toHaveLength(1);
});

test('a prune deletes nothing if the chain is broken in the pruned part or no event attests the anchor, and the error names the cause', async () => {
  const { t, workspace, last, since } = await aged();
  const tamper = (statement: ReturnType<typeof sql>) => t.app.store.write(workspace, async (tx) => void (await statement.execute(tx.db)));
  await tamper(sql`update events set payload = '{"a":1}' where seq = ${last - 3}`);
  const count = (await t.events()).length;
  const refused = await t.action('journal.prune', { before: since - 40 * DAY_MS });
  expect(refused.reply).toMatchObject({ status: 'error', code: 'CHAIN_BROKEN', message: expect.stringContaining(`event ${last - 3}:`) });
  expect((await t.events()).length).toBe(count + 1);
  expect(await readAnchor(t.app.store.reader, workspace)).toMatchObject({ seq: 0 });
  const [after] = await t.events({ kind: 'note.made' });
  await tamper(sql`insert into journal_anchors (workspace_id, seq, hash, time) values (${workspace}, ${after?.seq}, ${after?.hash}, 1)`);
  expect((await t.action('journal.prune', { before: 1 })).reply).toMatchObject({ code: 'CHAIN_BROKEN', message: expect.stringMatching(/no event attests/) });
  expect(await verified(t, { after: count, previous: 'a'.repeat(64) })).toMatchObject({ done: true, first_break: {} });
});

test('only an operator can prune, with exactly one limit, and the journal of a demo cannot be pruned', async () => {
  const { t } = await aged();
  const ana = await t.developer('ana');
  expect((await t.action('journal.prune', { keep_days: 90 }, ana)).isError).toBe(true);
  const refusal = async (input: object) => (await t.action('journal.prune', input)).reply;
  for (const both of [{}, { before: 1, keep_days: 90 }]) expect(await refusal(both)).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'before' } });
  const principal = { ...t.operator.principal, workspace: workspaceId('demo') };
  const inDemo = (name: string, args: object) => t.app.dispatch.action({ name, args, principal, surface: 'api' });
  await t.app.store.append(principal.workspace, [{ category: 'audit', kind: 'demo.kept', actor: 'operator', subject: 'demo' }]);
  t.clock.advance(40 * DAY_MS);
  expect((await inDemo('journal.prune', { keep_days: 31 })).reply).toMatchObject({ code: 'JOURNAL_NEEDED', next: expect.stringContaining('demo --clean') });
});

test('a prune up to now or later keeps the newest events, so that the chain can continue', async () => {
  const { t, since } = await aged();
  expect(await prune(t, { before: since + 365 * DAY_MS })).toMatchObject({ stage: 'done', before: t.clock.now(), remaining: 0 });
  expect((await t.events()).map(({ kind }) => kind)).toContain('journal.pruned');
  t.clock.advance(DAY_MS);
  expect(await prune(t, { before: t.clock.now() })).toMatchObject({ stage: 'done', remaining: 0 });
  expect(await t.events({ kind: 'journal.pruned' })).toHaveLength(1);
  expect(await verified(t)).toMatchObject({ first_break: null, done: true });
});

test('reads of a pruned journal start after its anchor and return the anchor', async () => {
  const { t, last } = await aged();
  await prune(t, { keep_days: 40 });
  const begin = last + 1;
  const head = (await t.events()).at(-1)?.seq as number;
  expect(await listed(t, { after: 0, limit: 5 })).toMatchObject({ looked: { from: begin, to: begin + 4 }, anchor: { seq: last } });
  expect(await listed(t, { after: 3, limit: 5 })).toMatchObject({ looked: { from: begin } });
  expect((await listed(t, { latest: 1_000 })).looked).toEqual({ from: begin, to: head });
  expect(await listed(t, { before: begin })).toMatchObject({ items: [], looked: { from: begin, to: last } });
  expect(await listed(t, { subject: 's3', latest: 10 })).toMatchObject({ items: [{ subject: 's3' }], looked: { from: begin } });
  expect((await verified(t, { after: 5, previous: 'a'.repeat(64) })).first_break).toBeNull();
  expect(await look(t, 'server.status', {})).toMatchObject({ events: head - last });
  const found = async (text: string) => ((await t.done('lookup.find', { text, limit: 5 })) as { items: { kind: string }[] }).items.map(({ kind }) => kind);
  expect(await found(String(begin))).toContain('event');
  expect(await found(String(last))).not.toContain('event');
});

test('the server deletes the events that an interrupted prune left behind, and shows them to nobody', async () => {
  const { t, workspace, last, since } = await aged(1_500);
  const { store } = t.app;
  const walk = new PruneWalk(await readAnchor(store.reader, workspace), since);
  while (!walk.isDone) await walk.step(store.reader, workspace, last + 10);
  await new AnchorKeeper(t.database.home, undefined).pruning(store.reader, workspace, walk.reached, t.clock.now());
  await store.write(workspace, (tx) => cutJournal(tx, walk, 'operator'));
  expect(await readAnchor(t.app.store.reader, workspace)).toMatchObject({ seq: last });
  expect((await listed(t, { after: 0, limit: 1 })).looked.from).toBe(last + 1);
  expect((await t.events())[0]?.seq).toBe(1);
  // If the removal fails in one workspace, it continues in the other workspaces.
  const unreadable = { ...(await findRows(store.reader, 'journal_anchors', { workspace_id: workspace }))[0], workspace_id: 'ws_aaa' } as JournalAnchorRow;
  await store.write('ws_aaa', ({ db }) => insertRows(db, 'journal_anchors', unreadable));
  await store.append('ws_aaa', [{ category: 'work', kind: 'note.made', actor: 'operator' }]);
  const failing: typeof store = {
    ...store,
    write: (name, ...rest) => (name === 'ws_aaa' ? Promise.reject(new Error('the disk is bad')) : store.write(name, ...rest)),
  };
  const logged: string[] = [];
  await createLeftoverSweep({ store: failing, log: createLog('error', (line) => logged.push(line)) }).run();
  expect(logged).toEqual([expect.stringContaining('"workspace":"ws_aaa"')]);
  expect((await t.events())[0]?.seq).toBe(last + 1);
  expect(await verified(t, { limit: 10_000 })).toMatchObject({ first_break: null, done: true });
});

test('two simultaneous prunes do not disturb each other, and the journal is cut once', async () => {
  const { t, last, since } = await aged(1_500);
  const both = (input: object) => Promise.all([prune(t, input), prune(t, input)]);
  for (const told of await both({ before: since, dry_run: true })) expect(told).toMatchObject({ stage: 'done', pruned: last });
  await both({ before: since });
  expect(await prune(t, { before: since })).toMatchObject({ stage: 'done', pruned: 0, anchor: { seq: last }, remaining: 0 });
  expect(await t.events({ kind: 'journal.pruned' })).toHaveLength(1);
});

import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/store/database.ts';
import type { UsageEvent } from '../usage-readers/usage-batch.ts';
import { Ledger, openLedger } from './ledger.ts';

const ORIGIN = 'http://127.0.0.1:3001';
const event = (id: string): UsageEvent => ({ id, agent: 'codex', source: 'codex', payload: { id } });

function opened(home: string, since?: number): Ledger {
  const ledger = openLedger({ HOME: home }, ORIGIN, { now: 1_000, since });
  if (!(ledger instanceof Ledger)) throw new Error(`held by ${ledger.heldBy}`);
  return ledger;
}

test('events and cursor are in one private file, and the next process continues from this file', async () => {
  const home = temporaryFolder();
  const first = opened(home);
  await first.take('codex', (batch) => {
    batch.put(event('one'));
    batch.put(event('one'));
    batch.put(event('two'));
    return { offset: 7 };
  });
  first.settle(new Set(['one']), {});
  first.close();
  const next = opened(home);
  expect([next.pending.map(({ id }) => id), next.cursor('codex'), next.sent, next.since]).toEqual([['two'], { offset: 7 }, 1, 1_000]);
  await next.take('codex', (batch, cursor) => {
    for (const id of ['one', 'two', 'three']) batch.put(event(id));
    return cursor;
  });
  expect(next.pending.map(({ id }) => id)).toEqual(['two', 'three']);
  const folder = join(home, '.covibe/ledger');
  expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600]);
});

test('a full ledger takes no more events, and readers wait at their position', async () => {
  const ledger = opened(temporaryFolder());
  let read = 0;
  const reader = (batch: { full(): boolean; put(event: UsageEvent): void }) => {
    while (!batch.full() && read < 5_000) batch.put(event(`e${read++}`));
    return { read };
  };
  await ledger.take('codex', reader);
  expect([ledger.pending.length, read]).toEqual([1_000, 1_000]);
  await ledger.take('codex', reader);
  expect(read).toBe(1_000);
  ledger.settle(new Set(ledger.pending.slice(0, 10).map(({ id }) => id)), {});
  await ledger.take('codex', reader);
  expect([ledger.pending.length, read]).toEqual([1_000, 1_010]);
});

test('repeated settling and reading of a full ledger ends, even if the reader restarts from the beginning each time', async () => {
  const ledger = opened(temporaryFolder());
  const fromTheFirst = (batch: { full(): boolean; put(event: UsageEvent): void }) => {
    for (let at = 0; at < 7_500 && !batch.full(); at++) batch.put(event(`e${at}`));
    return {};
  };
  let rounds = 1;
  // Stops the test if the loop does not end.
  for (; (await ledger.take('codex', fromTheFirst)) && rounds < 20; rounds++) ledger.settle(new Set(ledger.pending.map(({ id }) => id)), {});
  expect([rounds, ledger.pending.length, ledger.sent]).toEqual([8, 500, 7_000]);
});

test('a store whose events wait leaves room for the events of other stores', async () => {
  const ledger = opened(temporaryFolder());
  const fill = (name: string) => (batch: { full(): boolean; put(event: UsageEvent): void }) => {
    for (let at = 0; !batch.full(); at++) batch.put(event(`${name}${at}`));
    return {};
  };
  await ledger.take('claude-code', fill('a'));
  await ledger.take('codex', fill('b'));
  expect(ledger.pending.map(({ store }) => store).filter((store) => store === 'codex')).toHaveLength(1_000);
});

test('an earlier --since reads the stores again from that time, and a later --since changes nothing', async () => {
  const home = temporaryFolder();
  const ledger = opened(home);
  await ledger.take('codex', () => ({ offset: 7 }));
  ledger.close();
  const later = opened(home, 2_000);
  expect([later.since, later.cursor('codex')]).toEqual([1_000, { offset: 7 }]);
  later.close();
  const earlier = opened(home, 500);
  expect([earlier.since, earlier.cursor('codex')]).toEqual([500, {}]);
});

test('a ledger whose file is broken starts as a new ledger', () => {
  const home = temporaryFolder();
  opened(home).close();
  const [name = ''] = readdirSync(join(home, '.covibe/ledger'));
  writeFileSync(join(home, '.covibe/ledger', name), '{');
  expect(opened(home).since).toBe(1_000);
});

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rounds, TIMEOUT_MS } from '../../src/testing/faults/random.ts';
import { Scene } from '../../src/testing/faults/scene.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

const HOUR = 3_600_000;
const MAX_HOURS = 6;

test('a clock that jumps by hours in both directions ends leases once, gives nothing two holders and never decreases event times', {
  timeout: TIMEOUT_MS,
}, async () => {
  const home = temporaryFolder();
  const file = join(temporaryFolder(), 'clock');
  let time = Date.UTC(2026, 5, 1);
  const set = (to: number) => {
    time = to;
    writeFileSync(`${file}.new`, String(time));
    renameSync(`${file}.new`, file);
  };
  set(time);
  const scene = await Scene.begin({ label: 'clock', agents: 8, files: 3, at: [{ home, env: { COVENANT_TEST_CLOCK: file } }] });
  for (const _ of rounds(15)) {
    await scene.log.more(scene.random.between(5, 25));
    set(time + scene.random.between(-MAX_HOURS * HOUR, MAX_HOURS * HOUR));
  }
  await scene.log.more(50);
  expect((await scene.judge()).events).toBeGreaterThan(100);
});

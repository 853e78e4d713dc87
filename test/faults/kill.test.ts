import { expect, test } from 'vitest';
import { FULL, TIMEOUT_MS } from '../../src/testing/faults/random.ts';
import { Scene, twoServers } from '../../src/testing/faults/scene.ts';

/** The number of times that each of the two tests kills a server. */
const KILLS = FULL ? 100 : 3;

test('after random kill -9 under mixed load on SQLite, every acknowledged write exists once, everything has one holder, and the chain verifies [storage.crash.acknowledged]', {
  timeout: TIMEOUT_MS,
}, async () => {
  const scene = await Scene.begin({ label: 'kill-sqlite', agents: 10 });
  await scene.killAndRestart(KILLS);
  expect((await scene.judge()).events).toBeGreaterThan(100);
});

test('after random kill -9 of either of two servers on one PostgreSQL, every acknowledged write exists once, and the other server keeps working [storage.crash.acknowledged]', {
  timeout: TIMEOUT_MS,
}, async () => {
  const scene = await Scene.begin({ label: 'kill-postgres', agents: 10, at: await twoServers() });
  await scene.killAndRestart(KILLS);
  expect((await scene.judge()).events).toBeGreaterThan(100);
});

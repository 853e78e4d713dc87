import { expect, test } from 'vitest';
import { rounds, TIMEOUT_MS } from '../../src/testing/faults/random.ts';
import { Scene } from '../../src/testing/faults/scene.ts';
import { canMount, smallDisk } from '../../src/testing/faults/small-disk.ts';

test('a full disk makes calls fail with STORE_UNWRITABLE until there is room again, and nothing acknowledged is lost', {
  timeout: TIMEOUT_MS,
}, async ({ skip }) => {
  skip(!canMount(), 'needs the right to make private mounts (unshare)');
  const disk = await smallDisk(64);
  const scene = await Scene.begin({ label: 'disk', agents: 8, at: [disk], seen: disk.seen });
  const unwritable = () => scene.log.calls.filter(({ code }) => code === 'STORE_UNWRITABLE').length;
  for (const round of rounds(2)) {
    await scene.log.more(scene.random.between(10, 60));
    disk.fill(scene.random.below(200_000));
    const before = unwritable();
    await expect.poll(unwritable, { interval: 20, timeout: 60_000 }).toBeGreaterThan(before + 10);
    const isKilled = round % 2 === 1;
    if (isKilled) await scene.kill();
    disk.makeRoom();
    if (isKilled) await scene.restart();
  }
  await scene.log.more(50);
  await scene.judge();
});

import { expect, test } from 'vitest';
import { rounds, TIMEOUT_MS } from '../../src/testing/faults/random.ts';
import { Scene } from '../../src/testing/faults/scene.ts';
import { whenOver } from '../../src/testing/scope.ts';
import { administer, temporaryFolder } from '../../src/testing/store/database.ts';
import { startPostgres } from '../../src/testing/store/postgres.ts';

test('after a crash of PostgreSQL under load, two servers stay up, answer every failed call and lose nothing acknowledged', {
  timeout: TIMEOUT_MS,
}, async () => {
  const postgres = await startPostgres();
  whenOver(() => postgres.stop());
  await administer(postgres.url, 'create database load');
  const env = { DATABASE_URL: `${postgres.url}/load` };
  const scene = await Scene.begin({
    label: 'database',
    agents: 12,
    at: [
      { home: temporaryFolder(), env },
      { home: temporaryFolder(), env },
    ],
  });
  for (const _ of rounds(2)) {
    await scene.log.more(scene.random.between(20, 80));
    await postgres.crash(scene.random.below(1_500));
  }
  await scene.log.more(50);
  expect((await fetch(`${scene.server(1).url}/api/health`)).status).toBe(200);
  await scene.judge();
});

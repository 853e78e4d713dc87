import { expect, test } from 'vitest';
import { createAgentHost } from '../../../machine/agent-sessions/agent-host.ts';
import { testApp } from '../../../testing/app.ts';
import { SLEEPER } from '../../../testing/config.ts';
import { temporaryRepository } from '../../../testing/scenes/repository.ts';
import { temporaryDatabase } from '../../../testing/store/database.ts';
import { until } from '../../../testing/until.ts';

test('the log of a plain process is bounded while it runs, so that it cannot fill the disk', async () => {
  const database = await temporaryDatabase();
  const real = createAgentHost(database.home, { ...process.env, PATH: '' });
  const looked: string[] = [];
  const agentHost = { ...real, boundLog: async (name: string) => void looked.push(name) };
  const t = await testApp({ database, agentHost, launchers: { tiny: { ...SLEEPER, command: '/bin/sleep' } } });
  t.app.servesAt('http://127.0.0.1:9');
  await t.done('instances.start', { repository_path: temporaryRepository().path, type: 'coding', issue: 7, agent: 'tiny' });
  t.clock.advance(5_000);
  await until(() => expect(looked).toEqual(['work-7-a1']));
  await t.done('instances.stop', { instance_id: 'work-7-a1' });
  t.clock.advance(5_000);
  await t.app.close();
  expect(looked).toEqual(['work-7-a1']);
});

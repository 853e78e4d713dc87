import { expect, onTestFinished, test } from 'vitest';
import { createAgentHost } from '../../../machine/agent-sessions/agent-host.ts';
import { testApp } from '../../../testing/app.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { type Client, connectClient } from '../client.ts';
import type { Invocation } from '../command.ts';
import { createOutput } from '../output.ts';
import { doctorCommand } from './doctor/doctor.ts';

async function doctor(home: string, values: Record<string, string | boolean> = {}): Promise<{ text: string; items: { check: string; state: string }[] }> {
  const env = { PATH: process.env.PATH, COVENANT_HOME: home };
  let client: Promise<Client> | undefined;
  const invocation: Invocation = {
    env,
    cwd: home,
    json: false,
    out: createOutput(env, process.stdout, process.stderr),
    values,
    positionals: [],
    client: () => (client ??= connectClient(env, undefined)),
  };
  try {
    const result = await doctorCommand.run(invocation);
    return { text: result?.text ?? '', items: result?.json.items as { check: string; state: string }[] };
  } finally {
    await (await client)?.close();
  }
}

test('doctor reports a session without an instance, --fix ends that session, and doctor creates nothing in a home without instances', async () => {
  const { database } = await testApp();
  const { home } = database;
  const processes = await createAgentHost(home).sessions('process');
  const handle = await processes.start({ name: 'work-1-a1', cwd: home, file: 'sleep', args: ['86400'], env: { PATH: process.env.PATH ?? '' } });
  onTestFinished(() => processes.end(handle));
  const told = await doctor(home);
  expect(told.text).toContain(`session work-1-a1 is running without an instance\n    fix: kill -s TERM -- -${handle.pid}\n    next: covenant doctor --fix`);
  expect(await processes.look(handle)).toEqual({ state: 'running' });
  const fixed = await doctor(home, { fix: true });
  expect(fixed.text).toContain('session work-1-a1 is running without an instance: ended');
  expect(fixed.items.filter(({ check }) => check === 'agents')).toMatchObject([{ state: 'fixed' }]);
  expect(await processes.look(handle)).toEqual({ state: 'gone' });
  expect((await doctor(home)).items.filter(({ check }) => check === 'agents')).toMatchObject([{ state: 'ok' }]);
  await expect(doctor(home, { force: '/x' })).rejects.toThrow('--fix');
  await expect(doctor(home, { fix: true, force: '/x' })).rejects.toThrow('/x is not a leftover worktree');
  expect((await doctor(temporaryFolder())).items.filter(({ check }) => check === 'agents')).toMatchObject([{ state: 'skipped' }]);
});

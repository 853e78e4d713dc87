import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createAgentHost } from '../../../machine/agent-sessions/agent-host.ts';
import { socketIn } from '../../../machine/agent-sessions/tmux.ts';
import { signalAll } from '../../../machine/process/group.ts';
import { type TestApp, type TestAppOptions, testApp } from '../../../testing/app.ts';
import { endTmux, isAlive, processesWith } from '../../../testing/programs/processes.ts';
import { type TestRepository, temporaryRepository } from '../../../testing/scenes/repository.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';
import { type TestDatabase, temporaryDatabase, temporaryFolder } from '../../../testing/store/database.ts';
import { until } from '../../../testing/until.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;

/** Prints its input, starts a child, and runs until it is told to end. */
const PROGRAM = `
const { writeFileSync } = require('node:fs');
const child = require('node:child_process').spawn('sleep', ['86400']);
const { TMUX, COVENANT_INSTANCE_ID, COVIBE_MCP_TOKEN } = process.env;
console.log('at work on', process.argv[2].split(',')[0]);
writeFileSync(process.argv[1], JSON.stringify({ pid: process.pid, child: child.pid, cwd: process.cwd(), tmux: TMUX ?? null, id: COVENANT_INSTANCE_ID, token: COVIBE_MCP_TOKEN }));
`;

interface Place {
  readonly database: TestDatabase;
  readonly repository: TestRepository;
  /** Reads the file that the program wrote. */
  readonly said: string;
}

async function place(): Promise<Place> {
  const database = await temporaryDatabase();
  const said = join(temporaryFolder(), 'said.json');
  onTestFinished(() => {
    endTmux(database.home);
    signalAll(processesWith(said), 'SIGKILL');
  });
  return { database, repository: temporaryRepository(), said };
}

async function server({ database, said }: Place, options: TestAppOptions = {}): Promise<TestApp> {
  const scripted = { command: process.execPath, args: ['-e', PROGRAM, said, '{{prompt}}'], env: {}, pass_env: [], prompt: 'argument' as const };
  const t = await testApp({ database, launchers: { scripted }, ...options });
  t.app.servesAt('http://127.0.0.1:9');
  return t;
}

async function started(t: TestApp, { repository, said }: Place): Promise<{ instance: Body; agent: Body }> {
  const instance = (await t.done('instances.start', { repository_path: repository.path, type: 'coding', issue: 7, agent: 'scripted' })) as Body;
  const agent = await until(() => JSON.parse(readFileSync(said, 'utf8')) as Body);
  expect(agent).toMatchObject({ cwd: instance.worktree_path, id: 'work-7-a1', token: expect.stringMatching(/^cv_/) });
  return { instance, agent };
}

const log = async (t: TestApp): Promise<string> => ((await t.done('instances.logs', { instance_id: 'work-7-a1' })) as Body).text;
const show = async (t: TestApp): Promise<Body> => await t.done('instances.show', { instance_id: 'work-7-a1' });

test.runIf(hasTmux)(
  'an agent runs in tmux on the server’s socket, outlives the server, and is found by the next server [review.run.tmux] [storage.shutdown.clean]',
  async () => {
    const at = await place();
    const t = await server(at);
    const { instance, agent } = await started(t, at);
    const socket = socketIn(at.database.home);
    expect(instance).toMatchObject({ session_kind: 'tmux', running: true });
    expect(agent.tmux).toMatch(new RegExp(`^${socket},`));
    expect(await show(t)).toMatchObject({ attach: ['tmux', '-S', socket, 'attach-session', '-r', '-t', '=work-7-a1'] });
    await until(async () => expect(await log(t)).toContain('at work on You are work-7-a1'));
    await t.app.close();
    expect(isAlive(agent.pid)).toBe(true);

    const next = await server(at);
    next.clock.advance(60_000);
    await until(async () => expect((await next.done('workflows.agents', {})) as Body).toMatchObject({ items: [{ last_seen_at: next.clock.now() }] }));
    expect(await show(next)).toMatchObject({ instance: { status: 'started', running: true } });
    expect(await next.app.authenticate(agent.token, 'bearer')).toHaveProperty('principal');
    expect(await next.done('instances.stop', { instance_id: 'work-7-a1' })).toMatchObject({ worktree: 'removed', instance: { status: 'terminated' } });
    expect([isAlive(agent.pid), isAlive(agent.child), at.repository.onDisk()]).toEqual([false, false, []]);
    expect(await log(next)).toContain('at work on');
  },
);

test.runIf(hasTmux)('an instance whose agent has died is not reported as running [review.state.matches-reality]', async () => {
  const at = await place();
  const t = await server(at);
  const { agent } = await started(t, at);
  process.kill(agent.pid, 'SIGKILL');
  await until(async () => {
    t.clock.advance(5_000);
    expect(await show(t)).toMatchObject({
      instance: { status: 'terminated', status_reason: expect.stringContaining('its agent ended'), ended_at: expect.any(Number) },
    });
  });
  // The processes that the agent had started ended too.
  expect([isAlive(agent.child), at.repository.onDisk()]).toEqual([false, []]);
});

test('without tmux an agent is a process group with a log; it outlives the server and is found by the next server [review.run.no-tmux] [storage.shutdown.clean]', async () => {
  const at = await place();
  const bin = join(temporaryFolder(), 'bin');
  mkdirSync(bin);
  for (const name of ['git', 'sleep', 'env']) symlinkSync(spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim(), join(bin, name));
  const host = () => createAgentHost(at.database.home, { ...process.env, PATH: bin });
  const t = await server(at, { agentHost: host() });
  const { instance, agent } = await started(t, at);
  expect([instance.session_kind, agent.tmux, (await show(t)).attach]).toEqual(['process', null, null]);
  await until(async () => expect(await log(t)).toContain('at work on You are work-7-a1'));
  await t.app.close();
  expect(isAlive(agent.pid)).toBe(true);

  const next = await server(at, { agentHost: host() });
  next.clock.advance(60_000);
  await until(async () => expect((await next.done('workflows.agents', {})) as Body).toMatchObject({ items: [{ last_seen_at: next.clock.now() }] }));
  writeFileSync(join(instance.worktree_path, 'late.txt'), 'x');
  expect(await next.done('instances.abandon', { instance_id: 'work-7-a1' })).toMatchObject({ worktree: 'kept', reason: '1 file(s) untracked' });
  expect([isAlive(agent.pid), isAlive(agent.child)]).toEqual([false, false]);
  expect(await log(next)).toContain('at work on');
});

import { expect, test } from 'vitest';
import { createLog } from '../../../kernel/log.ts';
import { testClock } from '../../../testing/clock.ts';
import type { UpstreamConnection } from './connection.ts';
import type { ServerEntry } from './entry.ts';
import { Supervisor } from './supervisor.ts';

const ENTRY: ServerEntry = {
  name: 'far',
  enabled: true,
  prefix: true,
  include: undefined,
  exclude: [],
  lazy: false,
  timeoutMs: 1000,
  protocol: 'auto',
  workspaces: ['default'],
  transport: { kind: 'stdio', command: 'far', args: [], env: {}, cwd: undefined },
  line: 1,
};

/** Creates a supervisor. The test decides when its connections open, close or are lost. */
function supervised(options: { holdOpen?: boolean; holdClose?: boolean } = {}) {
  const clock = testClock();
  const open: { lost(problem: string): void; connection: UpstreamConnection }[] = [];
  const held: (() => void)[] = [];
  const counts = { opened: 0, live: 0 };
  const hold = async (on: boolean | undefined) => {
    if (on) await new Promise<void>((resolve) => held.push(resolve));
  };
  const supervisor = new Supervisor(ENTRY, {
    clock,
    log: createLog('error', () => {}),
    isKnown: () => false,
    changed: () => {},
    random: () => 0,
    async open(_entry, on) {
      counts.opened++;
      counts.live++;
      await hold(options.holdOpen);
      const close = async () => {
        await hold(options.holdClose);
        counts.live--;
      };
      const connection = { close, pid: 1, protocolVersion: '2025-11-25' } as unknown as UpstreamConnection;
      open.push({ lost: on.lost, connection });
      return connection;
    },
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const release = async () => {
    for (const go of held.splice(0)) go();
    await settle();
  };
  return { supervisor, clock, open, counts, settle, release, signal: new AbortController().signal };
}

test('a server that stays up for a minute starts counting failures from zero', async () => {
  const { supervisor, clock, open, settle } = supervised();
  supervisor.start();
  await settle();
  for (const wait of [500, 1000, 2000]) {
    open.at(-1)?.lost('It fell.');
    expect(supervisor.status()).toMatchObject({ state: 'down', problem: 'It fell.', next_start_at: clock.now() + wait });
    clock.advance(wait);
    await settle();
  }
  clock.advance(60_000);
  open.at(-1)?.lost('It fell.');
  expect(supervisor.status().next_start_at).toBe(clock.now() + 500);
});

test('two simultaneous restarts cause one start, and a call in the meantime waits for it', async () => {
  const { supervisor, counts, release, settle, signal } = supervised({ holdClose: true });
  supervisor.start();
  await settle();
  const both = Promise.all([supervisor.restart(), supervisor.restart()]);
  const call = supervisor.connected(signal);
  await release();
  await both;
  expect(await call).toBe(supervisor.connection);
  expect(counts).toEqual({ opened: 2, live: 1 });
  const stopped = supervisor.stop();
  await release();
  await stopped;
  expect(counts.live).toBe(0);
});

test('a server stopped during its start or restart leaves nothing behind and does not return', async () => {
  for (const restarting of [false, true]) {
    const { supervisor, counts, release, clock, settle, signal } = supervised({ holdOpen: true });
    supervisor.start();
    await settle();
    const restarted = restarting ? supervisor.restart() : undefined;
    const stopped = supervisor.stop();
    await release();
    await Promise.all([restarted, stopped]);
    clock.advance(120_000);
    await release();
    expect(counts).toEqual({ opened: 1, live: 0 });
    await expect(supervisor.connected(signal)).rejects.toMatchObject({ code: 'UPSTREAM_DOWN' });
  }
});

test('errors that a server returns count as answers, and only several missing answers in a row bring it down', async () => {
  const { supervisor, open, settle } = supervised();
  supervisor.start();
  await settle();
  const connection = open[0]?.connection as UpstreamConnection;
  for (const health of ['strike', 'strike', 'well', 'strike', 'strike', 'unknown'] as const) supervisor.judge(connection, health);
  expect(supervisor.state).toBe('up');
  supervisor.judge(connection, 'strike');
  expect(supervisor.state).toBe('down');
});

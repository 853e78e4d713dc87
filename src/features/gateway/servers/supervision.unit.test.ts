import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { isAlive, openDescriptors, processesWith } from '../../../testing/programs/processes.ts';
import { serveFixture } from '../../../testing/stand-ins/conformance-server.ts';
import { child, upstreamApp } from '../../../testing/stand-ins/upstreams.ts';

const textOf = ({ body }: { body: Record<string, unknown> }) => (body.content as { text: string }[])[0]?.text;

test('a server that exits during a call is restarted after a delay and can be called [gateway.process.restart]', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('dies-in-call') }]);
  await app.event('upstream.started', 'far');
  const { reply } = await app.call('far_die', {});
  expect(reply).toMatchObject({ status: 'error', code: 'UPSTREAM_DOWN', message: expect.stringContaining('It exited with code 3') });
  await app.event('upstream.down', 'far');
  expect(await app.server('far')).toMatchObject({ state: 'down', restarts: 0, pid: null, next_start_at: app.clock.now() + 500 });
  app.clock.advance(500);
  await app.event('upstream.started', 'far', 2);
  expect(await app.server('far')).toMatchObject({ state: 'up', restarts: 1, problem: null });
  expect(textOf(await app.call('far_echo', { text: 'again' }))).toBe('again');
});

test('a restarted server is listed again [gateway.process.restart]', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('records') }]);
  await app.event('upstream.started', 'far');
  process.kill((await app.server('far')).pid as number, 'SIGKILL');
  await app.event('upstream.down', 'far');
  app.clock.advance(500);
  await app.event('upstream.started', 'far', 2);
  const lines = await app.until(async () => {
    const { lines: said } = (await app.done('servers.logs', { server: 'far', lines: 50 })) as { lines: string[] };
    const got = said.flatMap((line) => line.match(/(?<= stderr: )got .+/) ?? []);
    return got.length >= 6 && got;
  });
  const handshake = ['got initialize', 'got notifications/initialized', 'got tools/list'];
  expect(lines).toEqual([...handshake, ...handshake]);
});

test('while a known server is down its tools stay listed, and calling one returns the problem [gateway.process.down-tools]', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('dies-in-call') }]);
  await app.event('upstream.started', 'far');
  await app.call('far_die', {});
  await app.event('upstream.down', 'far');
  expect(
    app.app.upstreams
      .in(DEFAULT_WORKSPACE_ID)
      .tools.tools()
      .map(({ name, state }) => [name, state]),
  ).toEqual([
    ['far_die', 'down'],
    ['far_echo', 'down'],
  ]);
  const { reply, isError } = await app.call('far_echo', { text: 'hi' });
  expect(isError).toBe(true);
  expect(reply).toMatchObject({
    code: 'UPSTREAM_DOWN',
    message: 'The server far is down. It exited with code 3: could not go on. It restarts in 1 s.',
    next: expect.stringContaining('covenant servers logs far'),
  });
  // The tools stay listed even if Covenant was restarted in the meantime and the server cannot start.
  const again = await upstreamApp([{ name: 'far', command: '/no/such/program' }], { database: app.database });
  expect(
    again.app.upstreams
      .in(DEFAULT_WORKSPACE_ID)
      .tools.tools()
      .map(({ name }) => name),
  ).toEqual(['far_die', 'far_echo']);
});

test('a server that fails repeatedly is announced once, and each restart waits longer, up to a minute [gateway.process.restart]', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('plain', { CHILD_EXITS: '1' }) }]);
  const waits: number[] = [];
  for (let attempt = 0; attempt < 9; attempt++) {
    const next = (await app.until(async () => {
      const { state, next_start_at, restarts } = await app.server('far');
      return state === 'down' && restarts === attempt && (next_start_at as number);
    })) as number;
    waits.push(next - app.clock.now());
    app.clock.advance(next - app.clock.now());
  }
  expect(waits[0]).toBe(500);
  for (const [at, wait] of waits.entries()) {
    const full = Math.min(500 * 2 ** at, 60_000);
    expect(wait).toBeGreaterThanOrEqual(Math.max(500, full / 2));
    expect(wait).toBeLessThanOrEqual(full);
  }
  expect(await app.events({ kind: 'upstream.down' })).toHaveLength(1);
});

test('a call without an answer in time is cancelled at the server; after three in a row the server is restarted', async () => {
  const app = await upstreamApp([{ name: 'far', timeout_s: 0.2, ...child('never-answers') }]);
  await app.event('upstream.started', 'far');
  const { pid } = await app.server('far');
  const lines = async () => ((await app.done('servers.logs', { server: 'far', lines: 50 })) as { lines: string[] }).lines.join('\n');
  for (let call = 0; call < 3; call++) {
    expect((await app.call('far_echo', { text: 'hi' })).reply).toMatchObject({ code: 'TOOL_TIMEOUT' });
    if (call < 2) await app.until(async () => (await lines()).match(/cancelled \d+/g)?.length === call + 1);
  }
  await app.event('upstream.down', 'far');
  expect((await app.server('far')).problem).toBe('It did not answer 3 calls in a row.');
  app.clock.advance(500);
  await app.event('upstream.started', 'far', 2);
  expect((await app.server('far')).pid).not.toBe(pid);
});

test('a caller that disconnects does not count against the server, and its call is cancelled there', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('never-answers') }]);
  await app.event('upstream.started', 'far');
  for (let call = 0; call < 4; call++) {
    const gone = new AbortController();
    const answer = app.call('far_echo', { text: 'hi' }, { signal: gone.signal });
    setTimeout(() => gone.abort(), 20);
    expect((await answer).reply).toMatchObject({ code: 'CALLER_GONE' });
  }
  expect((await app.server('far')).state).toBe('up');
});

test('a lazy server is started once to list it, and then only for calls', async () => {
  const app = await upstreamApp([{ name: 'far', lazy: true, ...child('plain') }]);
  await app.event('upstream.started', 'far');
  const again = await upstreamApp([{ name: 'far', lazy: true, ...child('plain') }], { database: app.database });
  expect(await again.server('far')).toMatchObject({ state: 'idle', pid: null, tools: 6 });
  expect(textOf(await again.call('far_echo', { text: 'wake up' }))).toBe('wake up');
  expect(await again.server('far')).toMatchObject({ state: 'up' });
});

test('a changed definition is withheld, the call returns how to approve it, and it is offered again when the change is reverted', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('changes-description') }]);
  await app.event('upstream.started', 'far');
  const changed = new Promise<void>((resolve) => app.app.upstreams.onChange(({ kind }) => kind === 'tools' && resolve()));
  expect(textOf(await app.call('far_change', {}))).toBe('changed');
  await changed;
  expect(
    app.app.upstreams
      .in(DEFAULT_WORKSPACE_ID)
      .tools.tools()
      .map(({ name }) => name),
  ).toEqual(['far_change']);
  expect((await app.call('far_echo', { text: 'hi' })).reply).toMatchObject({
    code: 'TOOL_WITHHELD',
    next: expect.stringContaining('covenant servers approve far --tool echo'),
  });
  await app.done('servers.restart', { server: 'far' });
  expect(textOf(await app.call('far_echo', { text: 'as it was' }))).toBe('as it was');
});

test('a change of the file starts, stops and restarts exactly the changed servers', async () => {
  const kept = { name: 'kept', ...child('plain') };
  const app = await upstreamApp([kept, { name: 'changed', ...child('plain') }, { name: 'removed', ...child('plain') }, { name: 'off', ...child('plain') }]);
  for (const name of ['kept', 'changed', 'removed', 'off']) await app.event('upstream.started', name);
  const before = await Promise.all(['kept', 'changed', 'removed', 'off'].map(async (name) => (await app.server(name)).pid as number));
  app.configure(
    { ...kept, timeout_s: 5, exclude: ['crash'] },
    { name: 'changed', ...child('plain', { A: '1' }) },
    { name: 'off', enabled: false, ...child('plain') },
    { name: 'added', ...child('plain') },
  );
  await Promise.all([app.event('upstream.started', 'changed', 2), app.event('upstream.started', 'added')]);
  expect((await app.server('kept')).pid).toBe(before[0]);
  expect((await app.server('changed')).pid).not.toBe(before[1]);
  const servers = () =>
    [
      ...new Set(
        app.app.upstreams
          .in(DEFAULT_WORKSPACE_ID)
          .tools.tools()
          .map(({ server }) => server),
      ),
    ].sort();
  expect(servers()).toEqual(['added', 'changed', 'kept']);
  expect(app.app.upstreams.in(DEFAULT_WORKSPACE_ID).tools.tool('kept_echo')?.timeoutMs).toBe(5000);
  expect(app.app.upstreams.in(DEFAULT_WORKSPACE_ID).tools.tool('kept_crash')).toBeUndefined();
  for (const pid of before.slice(1)) await app.until(() => !isAlive(pid));

  writeFileSync(join(app.database.home, 'secrets.toml'), '[[mcp.server]]\nname = "kept"\ncommand = 3\n');
  await app.until(() => !isAlive(before[0] as number));
  expect(servers()).toEqual([]);
  const { problems } = (await app.done('servers.list', {})) as { problems: unknown[] };
  expect(problems).toEqual([expect.objectContaining({ line: 3, server: 'kept' })]);
});

test('an HTTP server that disappears is detected, and found again when it returns [gateway.config.url]', async () => {
  const first = await serveFixture('legacy');
  const port = Number(new URL(first.url).port);
  const app = await upstreamApp([{ name: 'far', url: first.url }]);
  await app.event('upstream.started', 'far');
  expect(await app.server('far')).toMatchObject({ transport: 'http', pid: null });
  expect(textOf(await app.call('far_test_simple_text', {}))).toBe('This is a simple text response for testing.');
  await first.close();
  expect((await app.call('far_test_simple_text', {})).reply).toMatchObject({ code: 'UPSTREAM_DOWN' });
  await app.event('upstream.down', 'far');
  const second = await serveFixture('legacy', port);
  app.clock.advance(500);
  await app.event('upstream.started', 'far', 2);
  expect(textOf(await app.call('far_test_simple_text', {}))).toBe('This is a simple text response for testing.');
  await second.close();
});

test('if a server lost the session, a new handshake is made and the call continues', async () => {
  const far = await serveFixture('legacy');
  const app = await upstreamApp([{ name: 'far', url: far.url }]);
  await app.event('upstream.started', 'far');
  far.forgetSessions();
  expect(textOf(await app.call('far_test_simple_text', {}))).toBe('This is a simple text response for testing.');
  expect(await app.server('far')).toMatchObject({ state: 'up', restarts: 1 });
  await far.close();
});

test('whatever happens to the servers, no process and no descriptor is left behind', async () => {
  const mark = `round-${process.pid}-${Date.now()}`;
  const app = await upstreamApp([
    { name: 'far', ...child('plain', { MARK: mark }) },
    { name: 'web', url: (await served()).url },
  ]);
  for (const name of ['far', 'web']) await app.event('upstream.started', name);
  const restartAll = () => Promise.all(['far', 'web'].map((server) => app.done('servers.restart', { server })));
  await restartAll();
  const before = openDescriptors();
  for (let round = 0; round < 10; round++) {
    if (round % 3 === 0) await app.call('far_crash', {});
    await restartAll();
    expect(textOf(await app.call('far_echo', { text: 'there' }))).toBe('there');
    expect(processesWith(mark)).toHaveLength(1);
  }
  // HTTP keeps a connection open for the next request, and another one may just have been released.
  expect(openDescriptors() - before).toBeLessThan(6);
  app.configure();
  await app.until(() => processesWith(mark).length === 0);
});

async function served() {
  const far = await serveFixture('legacy');
  onTestFinished(() => far.close());
  return far;
}

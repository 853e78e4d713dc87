import { expect, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { child, MODERN_STDIO, upstreamApp } from '../../../testing/stand-ins/upstreams.ts';
import { createUpstreams } from './index.ts';

const textOf = ({ body }: { body: Record<string, unknown> }) => (body.content as { text: string }[])[0]?.text;

test('every server of the file is spawned at the start, and its tools join the native ones [gateway.start.spawn] [gateway.start.merged]', async () => {
  const app = await upstreamApp([
    { name: 'one', ...child('plain') },
    { name: 'two', ...child('plain', { CHILD_NAME: 'another' }) },
  ]);
  await Promise.all([app.event('upstream.started', 'one'), app.event('upstream.started', 'two')]);
  const pids = [(await app.server('one')).pid, (await app.server('two')).pid];
  expect(new Set(pids).size).toBe(2);
  for (const pid of pids) expect(() => process.kill(pid as number, 0)).not.toThrow();
  const { items } = (await app.done('tools.list', {})) as { items: { name: string }[] };
  expect(items.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'clock', 'one_echo', 'two_echo']));
  expect(textOf(await app.call('one_echo', { text: 'hi' }))).toBe('hi');
});

test('the handshake is initialize, notifications/initialized, tools/list [gateway.start.handshake]', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('records') }]);
  await app.event('upstream.started', 'far');
  const lines = await app.until(async () => {
    const { lines: said } = (await app.done('servers.logs', { server: 'far', lines: 20 })) as { lines: string[] };
    return said.length >= 3 && said;
  });
  expect(lines.map((line) => line.replace(/^\S+ stderr: /, ''))).toEqual(['got initialize', 'got notifications/initialized', 'got tools/list']);
});

test('servers that cannot start, or refuse the handshake, are logged and skipped [gateway.start.fails-to-start] [gateway.start.handshake-error]', async () => {
  const app = await upstreamApp([
    { name: 'missing', command: '/no/such/program' },
    { name: 'ends', ...child('plain', { CHILD_EXITS: '3', CHILD_SAYS: 'dead' }) },
    { name: 'refuses', ...child('records', { CHILD_REFUSES: 'initialize' }) },
    { name: 'unlisted', ...child('records', { CHILD_REFUSES: 'tools/list' }) },
    { name: 'well', ...child('plain') },
  ]);
  const down = ['missing', 'ends', 'refuses', 'unlisted'];
  await Promise.all([app.event('upstream.started', 'well'), ...down.map((name) => app.event('upstream.down', name))]);
  expect(textOf(await app.call('well_echo', { text: 'here' }))).toBe('here');
  expect(textOf(await app.call('clock', {}))).toContain('epoch_ms');
  const problems = Object.fromEntries(await Promise.all(down.map(async (name) => [name, (await app.server(name)).problem])));
  expect(problems).toEqual({
    missing: expect.stringContaining('/no/such/program'),
    ends: 'It exited with code 3: dead.',
    refuses: 'It refused the handshake: not today.',
    unlisted: 'It refused the handshake: not today.',
  });
  for (const name of down) expect(app.logged.some((line) => line.includes('external server is down') && line.includes(`"server":"${name}"`))).toBe(true);
});

test('a silent server does not delay other calls and is stopped after a minute', async () => {
  const app = await upstreamApp([{ name: 'silent', ...child('never-answers', { CHILD_SILENT: 'initialize' }) }]);
  expect(textOf(await app.call('clock', {}))).toContain('epoch_ms');
  await app.until(async () => (await app.server('silent')).state === 'starting');
  app.clock.advance(60_000);
  await app.event('upstream.down', 'silent');
  expect((await app.server('silent')).problem).toBe('It did not start within 60 s.');
});

test("a child gets the variables of its entry, and only harmless ones of Covenant's environment [gateway.config.env]", async () => {
  process.env.COVENANT_TEST_TOKEN = 'secret';
  const app = await upstreamApp([{ name: 'far', ...child('plain', { LOG_LEVEL: 'info' }) }]);
  await app.event('upstream.started', 'far');
  const names = String(textOf(await app.call('far_environment', {}))).split(',');
  expect(names).toEqual(expect.arrayContaining(['PATH', 'LOG_LEVEL']));
  expect(names).not.toContain('COVENANT_TEST_TOKEN');
  expect(names).not.toContain('NODE_ENV');
});

test('a process that runs no servers knows their offers, and a call returns the command that runs them', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('plain') }]);
  await app.event('upstream.started', 'far');
  const { store, clock, log } = app.app;
  const { feature, upstreams } = await createUpstreams(
    { store, clock, log },
    { home: app.database.home, run: false, toolTimeoutMs: 1000, version: '1', nativeNames: () => [] },
  );
  await feature.start?.({ store, clock, log });
  expect(
    upstreams
      .in(DEFAULT_WORKSPACE_ID)
      .tools.tools()
      .map(({ name, state }) => [name, state]),
  ).toContainEqual(['far_echo', 'down']);
  const ctx = { signal: AbortSignal.timeout(1000), exchange: undefined, requestId: 'req_test', log };
  await expect(upstreams.in(DEFAULT_WORKSPACE_ID).tools.tool('far_echo')?.call({}, ctx)).rejects.toMatchObject({
    code: 'UPSTREAM_DOWN',
    message: expect.stringContaining('covenant up'),
  });
  await feature.stop?.();
});

test('a child that supports only the newer revision is called in that revision, in a new process', async () => {
  const app = await upstreamApp([{ name: 'far', ...MODERN_STDIO }]);
  await app.event('upstream.started', 'far');
  expect((await app.server('far')).protocol_version).toBe('2026-07-28');
  expect(textOf(await app.call('far_test_simple_text', {}))).toBe('This is a simple text response for testing.');
});

test('a server with 500 tools is listed to its last page, and only the first of two tools with the same name counts', async () => {
  const app = await upstreamApp([
    { name: 'many', ...child('many-tools') },
    { name: 'twice', ...child('duplicate-name') },
  ]);
  await Promise.all([app.event('upstream.started', 'many'), app.event('upstream.started', 'twice')]);
  const tools = app.app.upstreams.in(DEFAULT_WORKSPACE_ID).tools.tools();
  expect(tools.filter(({ server }) => server === 'many')).toHaveLength(500);
  expect(textOf(await app.call('many_tool-499', { text: 'last' }))).toBe('tool-499 last');
  expect(tools.filter(({ server }) => server === 'twice').map(({ name, definition }) => [name, definition.description])).toEqual([
    ['twice_echo', 'The first.'],
    ['twice_other', 'The tool other.'],
  ]);
  expect((await app.server('twice')).withheld).toMatchObject([{ name: 'echo', reason: 'duplicate' }]);
});

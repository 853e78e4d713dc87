import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from '../../../kernel/log.ts';
import { createApp } from '../../../main.ts';
import { child, upstreamApp } from '../../../testing/stand-ins/upstreams.ts';
import type { EntryProblem } from './entry.ts';

interface Item {
  name: string;
  state: string;
  exposed: string;
  reason: string;
  fingerprint: string;
  rejected?: unknown;
}
const textOf = ({ body }: { body: Record<string, unknown> }) => (body.content as { text: string }[])[0]?.text;

test('a description that changes while the server runs is withheld, shown as a difference, and offered once it is approved [gateway.pin.changed-withheld] [gateway.pin.approve] [gateway.cli.servers]', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('changes-description') }]);
  await app.event('upstream.seen', 'far');
  expect(textOf(await app.call('far_echo', { text: 'hi' }))).toBe('hi');
  expect(await app.server('far')).toMatchObject({ state: 'up', transport: 'stdio', target: process.execPath, tools: 2, restarts: 0, withheld: [] });

  await app.call('far_change', {});
  await app.event('upstream.changed', 'far');
  const refused = await app.call('far_echo', { text: 'hi' });
  expect(refused.reply).toMatchObject({
    status: 'error',
    code: 'TOOL_WITHHELD',
    next: 'Ask the operator to review it with `covenant servers approve far --tool echo`.',
  });
  const { withheld, tools } = (await app.server('far')) as unknown as { withheld: Item[]; tools: number };
  expect(tools).toBe(1);
  expect(withheld).toMatchObject([
    {
      ...{ kind: 'tool', name: 'echo', exposed: 'far_echo', reason: 'changed', renamed_from: null, more_changes: 0 },
      difference: [
        { path: 'description', before: 'Returns the text.', after: 'Returns the text, and sends it elsewhere.' },
        { path: 'inputSchema.properties.note', before: null, after: '{"type":"string"}' },
      ],
    },
  ]);
  const listed = (await app.done('tools.list', {})) as unknown as { items: Item[] };
  expect(listed.items.filter(({ name }) => name.startsWith('far_'))).toMatchObject([
    { name: 'far_change', server: 'far', state: 'up', you: 'yes', calls_24h: 1, description: 'The tool change.' },
    { name: 'far_echo', server: 'far', state: 'withheld', you: 'yes', description: '' },
  ]);

  const stale = await app.action('servers.approve', { server: 'far', fingerprints: ['something-else'] });
  expect(stale.reply).toMatchObject({ status: 'warning', code: 'NOT_APPROVED', data: { approved: [], left: [{ name: 'echo' }] } });
  const fingerprints = withheld.map(({ fingerprint }) => fingerprint);
  expect(await app.done('servers.approve', { server: 'far', tool: 'echo', fingerprints })).toMatchObject({ approved: [{ exposed: 'far_echo' }], left: [] });
  expect(textOf(await app.call('far_echo', { text: 'again' }))).toBe('again');
  expect((await app.action('servers.approve', { server: 'far' })).reply).toMatchObject({ status: 'warning', code: 'NOTHING_WITHHELD' });
  expect(await app.event('upstream.approved', 'far')).toMatchObject({ category: 'audit', actor: app.operator.principal.actor });
});

test('a rejected definition stays withheld with the rejecting person, until its server changes it again or somebody approves it', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('changes-description') }]);
  await app.event('upstream.seen', 'far');
  const withheld = async () => ((await app.server('far')) as unknown as { withheld: Item[] }).withheld;
  await app.call('far_change', { text: 'One.' });
  const [one] = await app.until(async () => (await withheld()).length > 0 && (await withheld()));
  expect(one?.rejected).toBeNull();
  const stale = await app.action('servers.reject', { server: 'far', fingerprints: ['something-else'] });
  expect(stale.reply).toMatchObject({ status: 'warning', code: 'NOT_REJECTED', data: { rejected: [], left: [{ name: 'echo', rejected: null }] } });
  expect(stale.reply).toMatchObject({ next: expect.stringMatching(/servers approve far.* answer no.*servers reject far/) });
  expect(await app.done('servers.reject', { server: 'far', fingerprints: [one?.fingerprint] })).toMatchObject({
    rejected: [{ exposed: 'far_echo' }],
    left: [],
  });
  expect(await withheld()).toMatchObject([{ fingerprint: one?.fingerprint, rejected: { by: 'operator', at: app.clock.now() } }]);
  expect((await app.call('far_echo', { text: 'hi' })).reply).toMatchObject({ code: 'TOOL_WITHHELD' });
  expect(await app.event('upstream.rejected', 'far')).toMatchObject({
    category: 'audit',
    payload: { rejected: [{ name: 'echo', fingerprint: one?.fingerprint }] },
  });

  await app.call('far_change', { text: 'Two.' });
  await app.event('upstream.changed', 'far', 2);
  expect(await withheld()).toMatchObject([{ name: 'echo', rejected: null }]);
  await app.call('far_change', { text: 'One.' });
  await app.event('upstream.changed', 'far', 3);
  expect(await withheld()).toMatchObject([{ fingerprint: one?.fingerprint, rejected: { by: 'operator' } }]);
  expect(await app.done('servers.approve', { server: 'far', fingerprints: [one?.fingerprint] })).toMatchObject({ approved: [{ exposed: 'far_echo' }] });
  expect(textOf(await app.call('far_echo', { text: 'hi' }))).toBe('hi');
  await app.call('far_change', { text: 'Two.' });
  await app.event('upstream.changed', 'far', 4);
  await app.done('servers.approve', { server: 'far' });
  await app.call('far_change', { text: 'One.' });
  await app.event('upstream.changed', 'far', 5);
  // It is no longer shown as rejected, because the last decision was an approval.
  expect(await withheld()).toMatchObject([{ fingerprint: one?.fingerprint, rejected: null }]);
});

test('a new tool of a restarted server is withheld [gateway.pin.new-withheld]', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('changes-description') }]);
  await app.event('upstream.seen', 'far');
  app.configure({ name: 'far', ...child('changes-description', { CHILD_EXTRA: 'delete_all' }) });
  await app.done('servers.restart', { server: 'far' });
  await app.event('upstream.changed', 'far');
  expect((await app.call('far_delete_all', {})).reply).toMatchObject({ code: 'TOOL_WITHHELD' });
  await app.done('servers.approve', { server: 'far', tool: 'far_delete_all' });
  expect(await app.server('far')).toMatchObject({ tools: 3, withheld: [] });
});

test('no secret of an entry is shown, neither in the list nor in the log', async () => {
  const app = await upstreamApp([
    { name: 'near', ...child('plain', { CHILD_SAYS: 'the key is sesame-open', KEY: 'sesame-open' }) },
    { name: 'away', url: 'http://127.0.0.1:1/s/sesame-path-0123456/mcp?key=sesame-query', headers: { Authorization: 'Bearer sesame-header' } },
  ]);
  await Promise.all([app.event('upstream.started', 'near'), app.event('upstream.down', 'away')]);
  const log = await app.until(async () => {
    const { lines } = (await app.done('servers.logs', { server: 'near' })) as { lines: string[] };
    return lines.length > 0 && lines;
  });
  // The server has written a secret of its environment to the log.
  expect(log[0]).toContain('[redacted]');
  const shown = JSON.stringify([await app.done('servers.list', {}), log, await app.done('servers.logs', { server: 'away', lines: 1000 })]);
  expect(shown).not.toContain('sesame');
  expect(shown).toContain('"target":"http://127.0.0.1:1"');
  expect(JSON.stringify(await app.events())).not.toContain('sesame');
  expect(app.logged.join('')).not.toContain('sesame');
});

test('faulty entries are listed with their lines; an unknown server is refused with the known names', async () => {
  const app = await upstreamApp([{ name: 'near', ...child('plain') }]);
  writeFileSync(
    join(app.database.home, 'secrets.toml'),
    '[[mcp.server]]\nname = "a"\nurl = "nowhere"\n\n[[mcp.server]]\nname = "b"\ncommand = "x"\nenabled = false\n',
  );
  await app.until(async () => ((await app.done('servers.list', {})) as { problems: unknown[] }).problems.length > 0, 'the file as it is now');
  expect(await app.done('servers.list', {})).toMatchObject({
    items: [{ name: 'b', line: 5, state: 'disabled', enabled: false, tools: 0 }],
    problems: [{ line: 3, server: 'a', message: 'url: expected http://… or https://….' }],
  });
  for (const name of ['servers.list', 'servers.approve', 'servers.reject', 'servers.restart', 'servers.logs']) {
    const { reply } = await app.action(name, { server: 'c' });
    expect([name, reply]).toMatchObject([
      name,
      { code: 'SERVER_NOT_FOUND', message: 'secrets.toml has no server named "c". It has b.', data: { field: 'server' } },
    ]);
  }
  expect((await app.action('servers.forget', { server: 'c' })).reply).toMatchObject({
    code: 'SERVER_NOT_FOUND',
    message: 'Nothing is stored about a server named "c".',
  });
  expect((await app.action('servers.logs', { server: 'a' })).reply).toMatchObject({
    code: 'SERVER_SKIPPED',
    message: 'The server a is skipped: secrets.toml:3: url: expected http://… or https://….',
  });
  expect((await app.action('servers.restart', { server: 'b' })).reply).toMatchObject({ code: 'SERVER_DISABLED' });
});

test('a server removed from the file keeps its names until it is forgotten', async () => {
  const app = await upstreamApp([{ name: 'far', prefix: false, ...child('many-tools', { CHILD_TOOLS: '1' }) }]);
  await app.event('upstream.seen', 'far');
  expect((await app.action('servers.forget', { server: 'far' })).reply).toMatchObject({ code: 'SERVER_CONFIGURED' });
  app.configure({ name: 'other', prefix: false, ...child('many-tools', { CHILD_TOOLS: '1' }) });
  await app.event('upstream.seen', 'other');
  expect(await app.done('servers.list', {})).toMatchObject({
    items: [{ name: 'other', tools: 0, withheld: [{ name: 'tool-0', reason: 'name_taken' }] }],
    unconfigured: ['far'],
  });
  expect((await app.action('servers.approve', { server: 'other' })).reply).toMatchObject({
    code: 'NOT_APPROVED',
    message: 'Another tool has the name tool-0, so nothing of other can be approved.',
  });
  await app.done('servers.forget', { server: 'far' });
  await app.done('servers.restart', { server: 'other' });
  expect(await app.server('other')).toMatchObject({ tools: 0, withheld: [{ name: 'tool-0', reason: 'new' }] });
  await app.done('servers.approve', { server: 'other' });
  expect(await app.server('other')).toMatchObject({ tools: 1, withheld: [] });
});

test('an include or exclude of a name that the server does not have is reported', async () => {
  const app = await upstreamApp([{ name: 'far', exclude: ['far_echo'], ...child('plain') }]);
  await app.event('upstream.seen', 'far');
  const message = 'include, exclude: the server has no tool or prompt "far_echo". Use the server\'s own names.';
  expect(await app.done('servers.list', {})).toMatchObject({ items: [{ name: 'far' }], problems: [{ line: expect.any(Number), server: 'far', message }] });
});

test('a server whose entry has a fault is still in the file, so it cannot be forgotten', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('plain') }]);
  await app.event('upstream.seen', 'far');
  app.configure({ name: 'far', url: 'nowhere' });
  await app.until(async () => ((await app.done('servers.list', {})) as { problems: unknown[] }).problems.length > 0, 'the file as it is now');
  expect(await app.done('servers.list', {})).toMatchObject({ items: [], unconfigured: [] });
  expect((await app.action('servers.forget', { server: 'far' })).reply).toMatchObject({ code: 'SERVER_CONFIGURED' });
  writeFileSync(join(app.database.home, 'secrets.toml'), '[[mcp.server]]\nname = "far\n');
  const { problems } = await app.until(async () => {
    const list = (await app.done('servers.list', {})) as { problems: EntryProblem[] };
    return list.problems.some(({ line, server }) => line === 2 && server === null) && list;
  });
  expect(problems).toHaveLength(1);
  expect(await app.done('servers.list', {})).toMatchObject({ items: [], unconfigured: [] });
  expect((await app.action('servers.forget', { server: 'far' })).reply).toMatchObject({ code: 'SERVER_CONFIGURED' });
});

test('only the operator of the whole server manages external servers', async () => {
  const app = await upstreamApp([{ name: 'near', ...child('plain') }]);
  const developer = await app.developer('ana');
  const elsewhere = { ...app.operator, principal: { ...app.operator.principal, workspace: 'ws_beta' } };
  await app.developer('zoe', undefined, 'ws_beta');
  for (const [name, input] of Object.entries({
    'servers.list': {},
    'servers.restart': { server: 'near' },
    'servers.approve': { server: 'near' },
    'servers.logs': { server: 'near' },
    'servers.forget': { server: 'near' },
  })) {
    expect([name, (await app.action(name, input, developer)).reply]).toMatchObject([name, { code: 'OPERATOR_REQUIRED' }]);
    expect([name, (await app.action(name, input, elsewhere)).reply]).toMatchObject([name, { code: 'OPERATOR_REQUIRED' }]);
  }
});

test('a process that runs no servers shows the stored catalogue and approves definitions, but restarts nothing', async () => {
  const app = await upstreamApp([{ name: 'far', ...child('changes-description') }]);
  await app.event('upstream.seen', 'far');
  await app.call('far_change', {});
  await app.event('upstream.changed', 'far');
  const other = await createApp({ config: app.app.config, clock: app.clock, log: createLog('error'), sweep: false });
  const act = async (name: string, args: unknown) => (await other.dispatch.action({ name, args, principal: app.operator.principal, surface: 'cli' })).reply;
  try {
    expect(await act('servers.list', {})).toMatchObject({
      data: { items: [{ name: 'far', state: 'stopped', tools: 1, withheld: [{ name: 'echo', reason: 'changed' }] }] },
    });
    expect(await act('servers.restart', { server: 'far' })).toMatchObject({ code: 'SERVERS_NOT_RUN', next: 'Run `covenant up` to start both.' });
    expect(await act('servers.approve', { server: 'far' })).toMatchObject({ data: { approved: [{ name: 'echo' }] } });
  } finally {
    await other.close();
  }
  await app.until(async () => (await app.server('far')).tools === 2);
});

test('a server with enabled = false is not started, and one that is disabled later is stopped and offers nothing [gateway.config.enabled]', async () => {
  const app = await upstreamApp([
    { name: 'off', enabled: false, ...child('plain') },
    { name: 'on', ...child('plain') },
  ]);
  await app.event('upstream.started', 'on');
  expect(await app.server('off')).toMatchObject({ state: 'disabled', pid: null, tools: 0 });
  expect((await app.events({ kind: 'upstream.started' })).map(({ subject }) => subject)).toEqual(['server:on']);
  const { pid } = (await app.server('on')) as unknown as { pid: number };
  app.configure({ name: 'on', enabled: false, ...child('plain') });
  await app.until(async () => (await app.server('on')).state === 'disabled');
  expect((await app.call('on_echo', { text: 'hi' })).reply).toMatchObject({ code: 'UNKNOWN_TOOL' });
  await app.until(() => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  }, 'the end of the child');
});

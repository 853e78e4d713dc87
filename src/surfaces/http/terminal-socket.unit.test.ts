import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { issueToken } from '../../features/core/identity/index.ts';
import { type AgentHost, createAgentHost } from '../../machine/agent-sessions/agent-host.ts';
import { type Tmux, tmuxVersion, type View } from '../../machine/agent-sessions/tmux.ts';
import { testApp } from '../../testing/app.ts';
import { endTmux } from '../../testing/programs/processes.ts';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { temporaryDatabase } from '../../testing/store/database.ts';
import { until } from '../../testing/until.ts';
import type { TerminalLimits } from './terminal-socket.ts';

const present = (await tmuxVersion()) !== null;
/** A program that echoes its input in red, and exits on request. */
const ECHO = `
  process.stdin.setRawMode?.(true);
  const say = (text) => process.stdout.write('\\x1b[31m' + text + '\\x1b[0m\\r\\n');
  process.stdin.on('data', (data) => { say('got ' + JSON.stringify(String(data))); if (String(data).includes('!')) process.exit(0); });
  setInterval(() => {}, 1000);
  say('ready');`;
const ID = 'work-7-a1';

type Message = { type: string } & Record<string, unknown>;
interface Seen {
  readonly ws: WebSocket;
  readonly messages: Message[];
  of(type: string): Message[];
  text(): string;
  closed: Promise<number>;
  say(message: unknown): void;
}

const open: WebSocket[] = [];
afterEach(() => {
  for (const ws of open.splice(0)) ws.terminate();
});

function look(url: string, headers: Record<string, string>, path = `/api/instances/${ID}/terminal`): Seen {
  const ws = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
  open.push(ws);
  const messages: Message[] = [];
  const of = (type: string) => messages.filter((message) => message.type === type);
  ws.on('message', (data) => messages.push(JSON.parse(String(data)) as Message));
  ws.on('error', () => {});
  const closed = new Promise<number>((resolve) => ws.on('close', resolve));
  return { ws, messages, of, closed, text: () => String(of('screen').at(-1)?.text ?? ''), say: (message) => ws.send(JSON.stringify(message)) };
}

const refusal = async (url: string, headers: Record<string, string>, path?: string): Promise<string> => {
  const { ws } = look(url, headers, path);
  const [error] = (await once(ws, 'error')) as [Error];
  return error.message;
};

/** Opens a plain socket and writes to it immediately, so that the request and the data after it arrive together. */
function upgrading(url: string, { authorization }: { authorization: string }, path: string) {
  const { host, hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
  socket.cork();
  socket.write(`${[`GET ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: ${authorization}`, ...upgrade].join('\r\n')}\r\n\r\n`);
  return socket;
}

/** Encodes a short message in the wire format of WebSockets. */
function frame(message: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]);
}

/** A server with an agent that echoes its input, with or without real tmux. */
async function place({
  tmux = true,
  limits = {},
  view,
}: {
  tmux?: boolean;
  limits?: Partial<TerminalLimits>;
  view?: (real: Tmux['view']) => Tmux['view'];
} = {}) {
  const database = await temporaryDatabase();
  const real = createAgentHost(database.home, tmux ? process.env : { ...process.env, PATH: '' });
  const host: AgentHost = {
    ...real,
    tmux: async () => {
      const own = await real.tmux();
      return own && view ? { ...own, view: view(own.view) } : own;
    },
  };
  onTestFinished(() => endTmux(database.home));
  const launchers = { echo: { command: process.execPath, args: ['-e', ECHO], env: {}, pass_env: [], prompt: 'file' as const } };
  const t = await testApp({ database, agentHost: host, launchers });
  const { url } = await t.serve({ terminals: { pollMs: 20, ...limits } });
  const repository = temporaryRepository();
  await t.done('instances.start', { repository_path: repository.path, type: 'coding', issue: 7, agent: 'echo' });
  onTestFinished(async () => void (await t.action('instances.stop', { instance_id: ID })));
  return { ...t, url, bearer: { authorization: `Bearer ${t.operator.token}` } };
}

test.runIf(present)('streams the screen with colours, size and cursor, and captures it once for two viewers', async () => {
  let looks = 0;
  const held = Promise.withResolvers<void>();
  const view = (real: Tmux['view']) => async (name: string) => {
    looks++;
    await held.promise;
    return await real(name);
  };
  const { url, bearer, events, app, done } = await place({ view });
  const [one, other] = [look(url, bearer), look(url, bearer)];
  for (const seen of [one, other]) await until(() => expect(seen.of('connected')).toHaveLength(1));
  expect(looks).toBe(1);
  held.resolve();
  for (const seen of [one, other]) await until(() => expect(seen.text()).toContain('\u001b[31mready'));
  expect(one.messages[0]).toEqual({ type: 'connected', instance_id: ID, kind: 'tmux', write: false, message: null });
  expect(one.of('screen').at(-1)).toMatchObject({ columns: 200, rows: 50, cursor: { column: 0, row: 1 } });
  await (await app.agentHost.tmux())?.send(ID, 'x');
  for (const seen of [one, other]) await until(() => expect(seen.text()).toContain('got "x"'));
  // An unchanged screen is not sent again.
  const before = looks;
  await until(() => expect(looks).toBeGreaterThan(before + 2));
  const screens = one.of('screen').map(({ text, cursor }) => JSON.stringify([text, cursor]));
  expect(screens.filter((screen, at) => screen === screens[at - 1])).toEqual([]);
  one.say({ type: 'input', data: 'y' });
  one.say({ type: 'resize', columns: 100, rows: 30 });
  await until(() => expect(one.of('error').map(({ code }) => code)).toEqual(['READ_ONLY', 'READ_ONLY']));
  expect(await events({ kind: 'instance.terminal_opened' })).toEqual([]);
  await done('instances.stop', { instance_id: ID });
  expect(await Promise.all([one.closed, other.closed])).toEqual([1000, 1000]);
  expect(one.messages.at(-1)).toEqual({ type: 'ended' });
  expect(one.text()).not.toContain('got "y"');
  const later = look(url, bearer);
  expect(await later.closed).toBe(1000);
  expect(later.messages.map(({ type }) => type)).toEqual(['connected', 'screen', 'ended']);
  expect(later.text()).toContain('got "x"');
});

test.runIf(present)(
  'accepts input and resizing with write=1, and journals that the terminal was opened but never the typed text [harden.instances.server-permission]',
  async () => {
    const { url, bearer, done, signIn, developer, events } = await place();
    await developer('ana');
    const { cookie, ticketed } = await signIn(url);
    // Operator rights in a workspace allow watching, but not typing.
    const typing = `/api/instances/${ID}/terminal?write=1`;
    expect(await refusal(url, { cookie, origin: url }, await ticketed(typing))).toContain('403');
    const looking = look(url, { cookie, origin: url }, await ticketed(`/api/instances/${ID}/terminal`));
    await once(looking.ws, 'open');
    await done('developers.set_run_agents', { developer: 'ana', allowed: true });
    const taken = look(url, { cookie, origin: url }, await ticketed(typing));
    await until(() => expect(taken.of('screen')).not.toEqual([]));
    await done('developers.set_run_agents', { developer: 'ana', allowed: false });
    taken.say({ type: 'input', data: 'too late' });
    expect(await taken.closed).toBe(4401);
    await done('developers.set_run_agents', { developer: 'ana', allowed: true });
    const seen = look(url, { cookie, origin: url }, await ticketed(typing));
    await once(seen.ws, 'open');
    seen.say({ type: 'resize', columns: 100, rows: 30 });
    await until(() => expect(seen.of('screen').at(-1)).toMatchObject({ columns: 100, rows: 30 }));
    await until(() => expect(seen.text()).toContain('ready'));
    expect(seen.messages[0]).toMatchObject({ write: true });
    for (const wrong of [
      { type: 'input' },
      { type: 'input', data: '' },
      { type: 'input', data: 'x'.repeat(4_097) },
      { type: 'input', data: 'x', enter: true },
      { type: 'resize', columns: 1, rows: 30 },
      { type: 'resize', columns: 100, rows: 100_000 },
      { type: 'resize', columns: 100.5, rows: 30 },
      { type: 'run', command: 'id' },
      null,
    ])
      seen.say(wrong);
    seen.ws.send('not json');
    seen.ws.send(Buffer.from('{"type":"input","data":"binary"}'));
    seen.say({ type: 'input', data: 'swordfish;$(id)\r' });
    await until(() => expect(seen.text()).toContain('got "swordfish;$(id)\\r"'));
    expect(seen.of('error').map(({ code }) => code)).toEqual(Array.from({ length: 11 }, () => 'INVALID_MESSAGE'));
    expect(seen.of('screen').at(-1)).toMatchObject({ columns: 100, rows: 30 });
    expect(seen.text()).not.toContain('binary');
    const opened = { category: 'audit', subject: ID, payload: { write: true } };
    expect(await events({ kind: 'instance.terminal_opened' })).toMatchObject([opened, opened]);
    expect(seen.text()).not.toContain('too late');
    expect(JSON.stringify(await events())).not.toContain('swordfish');
    const burst = 'abcdefghijklmnopqrst';
    for (const key of burst) seen.say({ type: 'input', data: key });
    const typed = () => [...seen.text().matchAll(/got "([a-z]+)"/g)].map(([, keys]) => keys).join('');
    await until(() => expect(typed()).toContain(burst));
    // Messages that were sent before the server's answer are not lost.
    const eager = upgrading(url, bearer, `/api/instances/${ID}/terminal?write=1`);
    eager.write(frame({ type: 'resize', columns: 110, rows: 33 }));
    eager.uncork();
    onTestFinished(() => void eager.destroy());
    await until(() => expect(seen.of('screen').at(-1)).toMatchObject({ columns: 110, rows: 33 }));
    seen.say({ type: 'input', data: '!' });
    expect(await seen.closed).toBe(1000);
    expect(seen.messages.at(-1)).toEqual({ type: 'ended' });
    expect(seen.text()).toContain('got "!"');
  },
);

test.runIf(present)('admits only authorized viewers, only for instances on this machine, and only up to the limit of terminals', async () => {
  const { url, bearer, developer, app, done, operator, signIn } = await place({ limits: { most: 2 } });
  const change = (values: { machine?: string; developer_id?: string | null }) =>
    app.store.write(operator.principal.workspace, (tx) => tx.db.updateTable('instances').set(values).where('id', '=', ID).execute());
  await developer('ana');
  const agent = await developer('ben', 'claude');
  expect(await refusal(url, {})).toContain('401');
  expect(await refusal(url, { ...bearer, origin: 'https://evil.example' })).toContain('403');
  expect(await refusal(url, { ...bearer, host: 'evil.example' })).toContain('403');
  expect(await refusal(url, { authorization: `Bearer ${agent.token}` })).toContain('403');
  expect(await refusal(url, { authorization: `Bearer ${agent.token}` }, `/api/instances/${ID}/terminal?write=1`)).toContain('403');
  expect(await refusal(url, bearer, '/api/instances/..%2f..%2fx/terminal')).toContain('400');
  expect(await refusal(url, bearer, `/api/instances/${ID}/terminal?write=yes`)).toContain('400');
  expect(await refusal(url, bearer, `/api/instances/${ID}/terminal/more`)).toContain('404');
  const unknown = look(url, bearer, '/api/instances/work-8-a1/terminal');
  expect(await unknown.closed).toBe(4409);
  expect(unknown.messages).toEqual([{ type: 'error', code: 'INSTANCE_NOT_FOUND', message: expect.stringContaining('work-8-a1') }]);
  const [first, second] = [look(url, bearer), look(url, bearer)];
  for (const seen of [first, second]) await until(() => expect(seen.text()).toContain('ready'));
  const third = look(url, bearer);
  expect(await third.closed).toBe(4409);
  expect(third.messages).toMatchObject([{ type: 'error', code: 'TOO_MANY_TERMINALS' }]);
  second.ws.close();
  await second.closed;
  const large = look(url, bearer, `/api/instances/${ID}/terminal?write=1`);
  await until(() => expect(large.text()).toContain('ready'));
  large.say({ type: 'input', data: 'x'.repeat(20_000) });
  expect(await large.closed).toBe(1009);
  await change({ machine: 'elsewhere:/home' });
  const elsewhere = look(url, bearer);
  expect(await elsewhere.closed).toBe(4409);
  expect(elsewhere.messages).toMatchObject([{ type: 'error', code: 'WRONG_MACHINE', message: expect.stringContaining('elsewhere:/home') }]);
  await change({ machine: app.agentHost.machine, developer_id: agent.principal.developerId });
  await done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  const { cookie, ticketed } = await signIn(url);
  const hidden = look(url, { cookie }, await ticketed(`/api/instances/${ID}/terminal`));
  expect(await hidden.closed).toBe(4409);
  expect(hidden.messages).toMatchObject([{ type: 'error', code: 'INSTANCE_PRIVATE' }]);
});

test('shows the end of the log of an agent that runs as a plain process, and refuses input', async () => {
  const { url, bearer, done } = await place({ tmux: false });
  const seen = look(url, bearer, `/api/instances/${ID}/terminal?write=1`);
  await until(() => expect(seen.text()).toContain('ready'));
  expect(seen.messages[0]).toMatchObject({ type: 'connected', kind: 'process', write: false, message: expect.stringContaining('log') });
  expect(seen.of('screen')[0]).toMatchObject({ columns: null, rows: null, cursor: null });
  seen.say({ type: 'input', data: 'x' });
  await until(() => expect(seen.of('error')).toMatchObject([{ code: 'READ_ONLY', message: expect.stringContaining('without tmux') }]));
  await done('instances.stop', { instance_id: ID });
  expect(await seen.closed).toBe(1000);
  expect(seen.messages.at(-1)).toEqual({ type: 'ended' });
  const later = look(url, bearer);
  expect(await later.closed).toBe(1000);
  expect(later.messages.map(({ type }) => type)).toEqual(['connected', 'screen', 'ended']);
});

test.runIf(present)('disconnects a viewer that does not read, and a viewer whose credential is no longer valid', async () => {
  let number = 0;
  let taken = 0;
  const view =
    (real: Tmux['view']) =>
    async (name: string): Promise<View | null> => {
      const shown = await real(name);
      taken++;
      return shown && { ...shown, text: `${number++} ${'x'.repeat(500_000)}` };
    };
  const { url, bearer, done, app, operator } = await place({ view, limits: { pollMs: 1, stalledMs: 100 } });
  const socket = upgrading(url, bearer, `/api/instances/${ID}/terminal`);
  socket.uncork();
  socket.once('data', () => socket.pause());
  const dropped = once(socket, 'close');
  const terminals = async () => /^covenant_terminals (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
  await until(async () => expect(await terminals()).toBe('1'));
  await until(async () => expect(await terminals()).toBe('0'));
  let bytes = 0;
  socket.on('data', (data) => {
    bytes += data.length;
  });
  socket.resume();
  await dropped;
  expect(bytes).toBeLessThan(500_000 * taken);
  const second = await app.store.write(operator.principal.workspace, (tx) =>
    issueToken(tx, { kind: 'operator', developerId: null, expiresAt: null, by: 'operator' }),
  );
  const seen = look(url, { authorization: `Bearer ${second.value}` });
  await until(() => expect(seen.text()).not.toBe(''));
  await done('tokens.revoke', { token_id: second.token.id });
  expect(await seen.closed).toBe(4401);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createBoundedLog } from '../../../machine/process/bounded-log.ts';
import { createChildren } from '../../../machine/process/children.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';
import { childProgram, isAlive, processesWith } from '../../../testing/programs/processes.ts';
import { MALFORMED_ANSWER } from './json-rpc.ts';
import { type StdioOptions, StdioTransport } from './stdio-transport.ts';

const children = createChildren();
/**
 * All tests share this folder. After a flood, output in a pipe is still logged when the test is over, and would create a folder of the test again.
 */
const logs = mkdtempSync(join(tmpdir(), 'covenant-'));
let opened = 0;
afterAll(async () => {
  await children.stopAll(100);
  rmSync(logs, { recursive: true });
  expect(processesWith(children.mark)).toEqual([]);
});

interface Opened {
  transport: StdioTransport;
  errors: Error[];
  log(): Promise<string>;
  closings(): number;
  closed: Promise<void>;
}

function open(file: string, args: string[], env: Record<string, string>, more: Partial<StdioOptions>): Opened {
  const log = createBoundedLog({ path: join(logs, `${++opened}.log`), secrets: ['very-secret-value'] });
  const spawn = { file, args, env: { PATH: process.env.PATH, ...env }, cwd: tmpdir() };
  const transport = new StdioTransport({ children, spawn, log, ...more, limits: { graceMs: 100, ...more.limits } });
  const errors: Error[] = [];
  let closings = 0;
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      closings++;
      resolve();
    };
  });
  transport.onerror = (error) => errors.push(error);
  onTestFinished(async () => {
    await transport.close();
    await log.flush();
  });
  return { transport, errors, closed, closings: () => closings, log: async () => (await log.tail(10_000)).join('\n') };
}

/** A client of the SDK that uses our transport. */
async function connect(name: string, env: Record<string, string> = {}, more: Partial<StdioOptions> = {}) {
  const opened = open(process.execPath, [childProgram(name)], env, more);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(opened.transport);
  const call = async (tool: string, args: Record<string, unknown> = {}, options = {}) => {
    const result = await client.callTool({ name: tool, arguments: args }, options);
    return (result.content[0] as { text: string }).text;
  };
  return { ...opened, client, call };
}

/** Starts a server that is one line of shell, and collects the messages that it sends. */
async function speak(script: string, more: Partial<StdioOptions> = {}) {
  const opened = open('sh', ['-c', script], {}, more);
  const messages: JSONRPCMessage[] = [];
  opened.transport.onmessage = (message) => {
    messages.push(message);
  };
  await opened.transport.start();
  return { ...opened, messages };
}
const request = (id: number | string, method = 'ping') => ({ jsonrpc: '2.0' as const, id, method });

test('the transport speaks JSON-RPC 2.0 over stdin and stdout, with one message per line [gateway.wire.line-delimited]', async () => {
  const { transport, messages, closed } = await speak('read -r first; echo "$first" >&2; cat');
  await transport.send({ jsonrpc: '2.0', method: 'one', params: { text: 'a\nb 🦊' } });
  await transport.send(request(7, 'two'));
  await expect.poll(() => messages).toEqual([request(7, 'two')]);
  transport.close();
  await closed;
  const { call, client, log } = await connect('plain', { CHILD_SAYS: 'I begin, very-secret-value' });
  expect(await call('echo', { text: 'a\nb\r\n🦊' })).toBe('a\nb\r\n🦊');
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
  expect(await log()).toContain('stderr: I begin, [redacted]');
});

test('answers are matched by their id, in any order [gateway.wire.ids]', async () => {
  const { call } = await connect('garbage');
  const late = call('late', { text: 'first' });
  const order: string[] = [];
  late.then((text) => order.push(text));
  order.push(await call('echo', { text: 'second' }));
  await late;
  expect(order).toEqual(['second', 'first']);
  const plain = await connect('plain');
  const texts = Array.from({ length: 50 }, (_, at) => String(at));
  expect(await Promise.all(texts.map((text, at) => plain.call('wait', { text, ms: (texts.length - at) * 2 })))).toEqual(texts);
});

test('lines that are not messages and unexpected answers are logged and affect no call [gateway.wire.unrecognised]', async () => {
  const { call, errors, log, closings } = await connect('garbage');
  for (const text of ['eins', 'zwölf 🦊', 'drei']) expect(await call('echo', { text })).toBe(text);
  await expect(call('broken')).rejects.toMatchObject({ data: { reason: MALFORMED_ANSWER } });
  expect(await call('echo', { text: 'still here' })).toBe('still here');
  const text = await log();
  for (const part of ['Welcome to the garbage server!', 'not JSON: DEBUG: got a call', 'not a JSON-RPC message: {}', 'id 987654', 'id "never-asked"']) {
    expect(text).toContain(part);
  }
  expect([errors, closings()]).toEqual([[], 0]);
  expect(await call('unended', { text: 'the last line' })).toBe('the last line');
});

test('the second answer to one call is discarded [gateway.wire.unrecognised]', async () => {
  const { call, errors, log } = await connect('answers-twice');
  for (const text of ['one', 'two', 'three']) expect(await call('echo', { text })).toBe(text);
  expect(errors).toEqual([]);
  expect(await log()).toContain('discarded an unexpected answer');
});

test('an answer to a cancelled call is discarded', async () => {
  const { call, errors, log } = await connect('plain');
  await expect(call('wait', { ms: 50, text: 'late' }, { signal: AbortSignal.timeout(10) })).rejects.toThrow();
  await expect.poll(log).toContain('discarded an unexpected answer');
  expect(errors).toEqual([]);
});

test('a cancelled request is cancelled at the server', async () => {
  const { call, log } = await connect('never-answers');
  await expect(call('echo', {}, { timeout: 50 })).rejects.toThrow('timed out');
  await expect.poll(log).toMatch(/stderr: cancelled \d+/);
});

test.each(['junk', 'blank', 'json', 'notifications', 'answers', 'stderr'])(
  'a flood of %s is read slowly: calls are answered, the event loop runs and memory stays bounded',
  async (kind) => {
    const { call, client, log } = await connect('floods', { CHILD_FLOOD: kind });
    await client.listTools();
    const isSlowed = async () => (await log()).includes('read slowly');
    await expect.poll(isSlowed, { timeout: 20_000 }).toBe(true);
    const before = process.memoryUsage().rss;
    const cpu = process.cpuUsage();
    const began = performance.now();
    let turns = 0;
    const turning = setInterval(() => turns++, 10);
    for (const text of ['one', 'two']) expect(await call('echo', { text })).toBe(text);
    await new Promise((resolve) => setTimeout(resolve, 300));
    clearInterval(turning);
    const { user, system } = process.cpuUsage(cpu);
    expect(turns).toBeGreaterThan(10);
    expect((user + system) / 1000).toBeLessThan((performance.now() - began) * 0.7);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  },
);

test('an endless line ends the connection with a reason', async () => {
  const { client, transport, closed, closings } = await connect('floods', { CHILD_FLOOD: 'line' }, { limits: { lineBytes: 1024 * 1024 } });
  await client.listTools().catch(() => {});
  await closed;
  expect(transport.closedBecause).toBe('sent a line longer than 1048576 bytes');
  await transport.close();
  expect([closings(), isAlive(transport.pid as number)]).toEqual([1, false]);
});

test('a server that does not read gets a limited amount of data', async () => {
  const { transport, errors } = await speak('exec sleep 1000', { limits: { queuedBytes: 300_000 } });
  const message = { jsonrpc: '2.0' as const, method: 'x', params: { text: 'x'.repeat(100_000) } };
  const sends = await Promise.allSettled(Array.from({ length: 20 }, () => transport.send(message)));
  const refused = sends.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(refused.length).toBeGreaterThanOrEqual(14);
  expect(String(refused[0]?.reason)).toContain('reads too slowly');
  expect(errors).toEqual([]);
});

test.each([
  [{}, 'exited with code 3: could not go on'],
  [{ CHILD_DIES: 'signal' }, 'was killed by SIGKILL'],
])('a server that exits during a call ends it immediately with a reason (%j)', async (env, reason) => {
  const { call, transport, closings, log } = await connect('dies-in-call', env as Record<string, string>);
  expect(await call('echo', { text: 'x' })).toBe('x');
  await expect(call('die')).rejects.toThrow('Connection closed');
  expect(transport.closedBecause).toBe(reason);
  await expect(transport.send(request(9))).rejects.toThrow(`The server is not connected: it ${reason}`);
  await transport.close();
  expect(closings()).toBe(1);
  expect(await log()).toContain(reason.split(':')[0]);
});

test('a server that exits before its first answer reports so, without its secrets', async () => {
  const { transport, closings, closed } = open(process.execPath, [childProgram('plain')], { CHILD_EXITS: '4', CHILD_SAYS: 'no key very-secret-value' }, {});
  await expect(new Client({ name: 'test', version: '1' }).connect(transport)).rejects.toThrow();
  await closed;
  expect([transport.closedBecause, closings()]).toEqual(['exited with code 4: no key [redacted]', 1]);
});

test('a server that closes its output or input but keeps running counts as ended', async () => {
  const mute = await speak('exec >&-; exec sleep 1000');
  await mute.closed;
  expect(mute.transport.closedBecause).toBe('closed its output');
  await mute.transport.close();
  expect(isAlive(mute.transport.pid as number)).toBe(false);
  const deaf = await speak('exec <&-; echo "{}"; exec sleep 1000');
  await expect.poll(deaf.log).toContain('{}');
  await deaf.transport.send(request(1)).catch(() => {});
  await deaf.closed;
  expect(deaf.transport.closedBecause).toBe('closed its input');
});

test.each(['', '>/dev/null', '2>/dev/null'])(
  'processes left by a dead server (sleep %s) do not delay the report of its end, and are gone after close',
  async (held) => {
    const { closed, transport, messages } = await speak(
      `trap '' TERM; sleep 1000 ${held} & echo "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"pid/$!\\"}"; exit 5`,
    );
    await closed;
    expect(transport.closedBecause).toBe('exited with code 5');
    const pid = Number((messages[0] as { method: string }).method.split('/')[1]);
    await transport.close();
    expect(isAlive(pid)).toBe(false);
  },
);

test('close works before, during and after the start', async () => {
  const before = open('cat', [], {}, {}).transport;
  await before.close();
  await expect(before.start()).rejects.toThrow('closed');
  const during = open('cat', [], {}, {});
  const started = expect(during.transport.start()).rejects.toThrow('closed while it was starting');
  await during.transport.close();
  await started;
  const after = open('cat', [], {}, {});
  await after.transport.start();
  await expect(after.transport.start()).rejects.toThrow('already started');
  await Promise.all([after.transport.close(), after.transport.close()]);
  expect([during, after].map(({ closings }) => closings())).toEqual([1, 1]);
  expect(isAlive(after.transport.pid as number)).toBe(false);
});

test('the error for a missing program contains its name', async () => {
  const { transport } = open('covenant-no-such-program', [], {}, {});
  await expect(new Client({ name: 'test', version: '1' }).connect(transport)).rejects.toThrow(ProgramMissing);
});

test('a message whose handler fails does not end the connection', async () => {
  const { transport, messages, errors } = await speak('cat');
  transport.onmessage = (message) => {
    transport.onmessage = (next) => {
      messages.push(next);
    };
    throw new Error(`cannot handle ${JSON.stringify(message)}`);
  };
  await transport.send(request(1));
  await transport.send(request(2));
  await expect.poll(() => messages).toEqual([request(2)]);
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('cannot handle')]);
});

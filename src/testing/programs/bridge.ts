import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished } from 'vitest';
import { PACKAGE_ROOT } from '../../version.ts';
import type { Era } from '../mcp-client.ts';
import { temporaryFolder } from '../store/database.ts';
import { COMPILED } from './compiled.ts';

const ENTRY = join(PACKAGE_ROOT, 'src/bin/covibe-mcp.ts');
export type ToolResult = Awaited<ReturnType<Client['callTool']>>;

export interface Bridge {
  client: Client;
  /** Returns everything that the bridge has written to stderr. */
  notes(): string;
}

/** Starts the bridge as a separate process and connects a client to it. */
export async function bridge(era: Era, env: Record<string, string>, { cwd, ...options }: ClientOptions & { cwd?: string } = {}): Promise<Bridge> {
  const transport = new StdioClientTransport({ command: process.execPath, args: [ENTRY], env: environment(env), stderr: 'pipe', ...(cwd && { cwd }) });
  let notes = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    notes += chunk.toString();
  });
  const client = new Client({ name: 'tester', version: '1.0.0' }, { ...options, ...optionsFor(era) });
  const problems: Error[] = [];
  client.onerror = (error) => problems.push(error);
  await client.connect(transport);
  onTestFinished(async () => {
    await client.close();
    // If the bridge wrote a line to stdout that is not a message, it would appear here.
    expect(problems).toEqual([]);
  });
  expect(client.getInstructions()).toContain('Covenant');
  return { client, notes: () => notes };
}

export const optionsFor = (era: Era): ClientOptions => ({ versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } });

/** An environment with a home without credentials, and without the machine's own settings. */
const environment = (env: Record<string, string>): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: temporaryFolder(),
  NODE_COMPILE_CACHE: COMPILED,
  ...env,
});

/** Runs the bridge with `input` on stdin. Stdin ends when the bridge has answered, or immediately if `input` needs no answer. */
export async function run(env: Record<string, string>, input: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [ENTRY], { env: environment(env) });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (input) {
    child.stdin.write(input);
    child.stdout.once('data', () => child.stdin.end());
  } else child.stdin.end();
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, stdout, stderr };
}

/** Starts an HTTP server that is not a Covenant server, and returns its address. */
export async function standIn(listener: RequestListener): Promise<string> {
  const server = createServer((request: IncomingMessage, response) => {
    request.resume();
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns an address at which no server listens any more. */
export async function closedOrigin(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

export function textOf({ content }: ToolResult): string {
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ROOT } from '../programs/program.ts';
import { temporaryFolder } from '../store/database.ts';

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance');
export const REVISIONS = ['2026-07-28', '2025-11-25'] as const;
export type Revision = (typeof REVISIONS)[number];

/** Returns the scenarios that the suite requires for a protocol revision. They are listed in a file of the suite. */
export function requiredScenarios(revision: Revision): string[] {
  const lines = readFileSync(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8').split('\n');
  const from = lines.indexOf('server:') + 1;
  return lines.slice(from, lines.indexOf('', from)).map((line) => line.replace('  - ', ''));
}

export interface Verdicts {
  readonly passed: string[];
  readonly failed: string[];
  /** The complete output of the suite. */
  readonly output: string;
}

/** Runs the official suite against one address, in a separate process. */
export async function runSuite(url: string, revision: Revision): Promise<Verdicts> {
  const child = spawn(process.execPath, [join(SUITE, 'dist/index.js'), 'server', '--url', url, '--requirements', revision], {
    cwd: temporaryFolder(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  await once(child, 'close');
  const summary = output.slice(output.indexOf('=== SUMMARY ==='));
  const marked = (mark: string) => [...summary.matchAll(new RegExp(`^${mark} ([\\w-]+): \\d+ passed`, 'gm'))].map(([, name]) => name as string);
  return { passed: marked('✓'), failed: marked('✗'), output };
}

/** Starts a proxy that adds a token to each request, because the suite sends no credentials. Everything else stays unchanged, including Host and Origin. */
export async function passThrough(target: string, token: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const onward = send({
      hostname,
      port,
      method: incoming.method,
      path: incoming.url,
      headers: [...incoming.rawHeaders, 'authorization', `Bearer ${token}`],
      setHost: false,
    });
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${new URL(target).pathname}`;
}

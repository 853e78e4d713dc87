import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../src/testing/store/postgres.ts';

const READY_MS = 20_000;

/**
 * Starts the proxy with its default settings, reachable only from this machine. The proxy starts the stdio server with `command` and forwards requests to it.
 */
export async function startMcpProxy(folder: string, command: readonly string[]): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const options = ['--host', '127.0.0.1', '--port', String(port), '--server', 'stream'];
  const child = spawn(process.execPath, [join(folder, 'dist/bin/mcp-proxy.mjs'), ...options, '--', ...command], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk).slice(-2_000)));
  const url = `http://127.0.0.1:${port}`;
  try {
    await answers(url, child, () => output);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/** Waits until the proxy answers. It polls, because the proxy prints nothing when it is ready. */
async function answers(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const until = performance.now() + READY_MS;
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`it exited with code ${child.exitCode}: ${output()}`);
    if (
      await fetch(`${url}/ping`).then(
        () => true,
        () => false,
      )
    )
      return;
    await pause(50);
  }
  throw new Error(`it was not ready within ${READY_MS / 1000} s: ${output()}`);
}

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = new URL('..', import.meta.url).pathname;
export const covenant: string = join(root, 'dist/bin/covenant.js');

export interface StartedProgram {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to the line with which it reports that it is ready. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

async function start(args: string[], env: NodeJS.ProcessEnv = {}): Promise<StartedProgram> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await firstLine(child);
  const { url } = JSON.parse(line) as { url: string };
  return {
    url,
    pid: child.pid as number,
    readyMs: performance.now() - started,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`ended with ${code} before it served`)));
  });
}

/** Starts a script that prints a line when it is ready. */
export const startScript = (script: URL, ...args: string[]): Promise<StartedProgram> => start([script.pathname, ...args]);

export const startBaseline = (name: string): Promise<StartedProgram> => start([join(root, 'bench/baselines', `${name}.ts`)]);

export interface StartedCovenant extends StartedProgram {
  readonly home: string;
  readonly token: string;
}

/** Starts a real server in a new home, or in the existing home `kept`, which is not deleted afterwards. The returned token may call `echo`. */
export async function startCovenant(env: NodeJS.ProcessEnv = {}, kept?: string, grants: readonly string[] = []): Promise<StartedCovenant> {
  const home = kept ?? mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  const all = { ...env, COVENANT_HOME: home, MCP_LOG_LEVEL: 'error' };
  const server = await start([covenant, 'up', '--port', '0', '--json'], all);
  const cli = (...args: string[]) =>
    JSON.parse(execFileSync(process.execPath, [covenant, ...args, '--json'], { env: { ...process.env, ...all }, encoding: 'utf8' })) as Record<string, string>;
  const { token, token_id } = cli('tokens', 'create', '--developer', 'bench');
  for (const action of ['tool.call.echo', ...grants]) cli('capabilities', 'grant', action, '--token', String(token_id));
  return {
    ...server,
    home,
    token: String(token),
    async stop() {
      await server.stop();
      if (!kept) rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kb) / 1024);
}

/** Measures the milliseconds from the start of a process to its end. Fails if the process fails or writes to standard error. */
export async function wholeProcess(args: readonly string[], env: NodeJS.ProcessEnv = process.env, input = ''): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'pipe'] });
  let notes = '';
  child.stderr.on('data', (chunk) => {
    notes += chunk;
  });
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0 || notes) throw new Error(`${args.join(' ')} ended with ${code}: ${notes}`);
  return performance.now() - started;
}

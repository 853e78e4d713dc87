import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Terminal } from '../../surfaces/cli/program.ts';
import { COMPILED } from './compiled.ts';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COVENANT = join(ROOT, 'dist/bin/covenant.js');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The parsed output, if the command was run with `--json`. */
  readonly json: Record<string, unknown>;
}

export interface Environment {
  readonly home: string;
  /** The working folder. By default, it is the working folder of the test. */
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** The beginning of a command that starts the program and then replaces itself with it (`exec`). */
  readonly through?: readonly string[];
  /** If true, the program gets its own process group, as it would in a terminal. */
  readonly group?: boolean;
}

/**
 * Runs the covenant command inside the test's process by calling the same function as the program. Starting a process would take half a second. For commands
 * that keep running or receive signals, `covenantProcess` is used.
 */
export async function covenant(at: Environment, ...args: string[]): Promise<Ran> {
  if (at.through || args[0] === 'up' || args[0] === 'demo') return await covenantProcess(at, ...args);
  const { run } = await import('../../surfaces/cli/run.ts');
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const terminal = { stdout, stderr, cwd: () => at.cwd ?? process.cwd() } as unknown as Terminal;
  const code = await run(args, environment(at), terminal);
  stdout.end();
  stderr.end();
  return ranWith(code, ...(await printed));
}

/** Runs the covenant command as a person does, in a separate process and from the build. */
export async function covenantProcess(at: Environment, ...args: string[]): Promise<Ran> {
  const child = spawn(...commandLine(at.through, args), { cwd: at.cwd, env: environment(at), stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close') as Promise<[number | null]>, text(child.stdout), text(child.stderr)]);
  return ranWith(code, stdout, stderr);
}

const ranWith = (code: number | null, stdout: string, stderr: string): Ran => Object.assign(Object.create(parsing) as Ran, { code, stdout, stderr });

/** `json` is defined on the prototype. A failed assertion prints the object's own fields, and reading `json` would throw if the output is not JSON. */
const parsing = {
  get json(): unknown {
    return JSON.parse((this as unknown as Ran).stdout);
  },
};

export interface RunningCommand {
  readonly child: ChildProcess;
  /** Waits for the next line of stdout. Returns undefined after the command has ended. */
  line(): Promise<string | undefined>;
  /** Returns everything that the program has written to stderr. */
  notes(): string;
  /** Resolves with the exit code when the command has ended. */
  readonly ended: Promise<number | null>;
}

/** Starts a command that keeps running. It ends with the test at the latest. */
export function startCommand(at: Environment, ...args: string[]): RunningCommand {
  const child = spawn(process.execPath, [COVENANT, ...args], {
    cwd: at.cwd,
    env: environment(at),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: at.group === true,
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let notes = '';
  child.stderr.on('data', (chunk) => {
    notes += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, notes: () => notes, line: async () => (await lines.next()).value };
}

export interface RunningProgram {
  readonly url: string;
  readonly signinUrl: string;
  readonly child: ChildProcess;
  /** Returns everything that the program has written to stderr. */
  log(): string;
  /** Ends the program and returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs `covenant up` until the test ends. By default, it uses a free port. */
export async function startProgram(at: Environment, port = '0'): Promise<RunningProgram> {
  const child = spawn(...commandLine(at.through, ['up', '--port', port, '--json']), { env: environment(at), stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const ready = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exited.then(() => undefined)]);
  if (!ready) throw new Error(`covenant up ended: ${log}`);
  const { url, signin_url } = JSON.parse(String(ready[0])) as { url: string; signin_url: string };
  return {
    url,
    signinUrl: signin_url,
    child,
    log: () => log,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}

function commandLine(through: readonly string[] = [], args: readonly string[]): [command: string, args: string[]] {
  const [command = process.execPath, ...rest] = [...through, process.execPath];
  return [command, [...rest, COVENANT, ...args]];
}

/** Returns the environment for a program, without Covenant settings that this machine may have. */
function environment({ home, env = {} }: Environment): NodeJS.ProcessEnv {
  const { DATABASE_URL: _, MCP_SERVER_PORT: __, ...rest } = process.env;
  return { ...rest, COVENANT_HOME: home, NODE_ENV: 'test', LANG: 'C.UTF-8', NODE_COMPILE_CACHE: COMPILED, ...env };
}

/** Sends `POST /api/mcp` and returns the answer, even if the server refused the call. */
export async function direct(
  url: string,
  token: string,
  tool: string,
  args: Record<string, unknown> = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}/api/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ tool, arguments: args }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

export interface ClientRun {
  readonly code: number | null;
  readonly stdout: string;
  /** Both output streams together, for the message of a failed test. */
  readonly output: string;
}

export interface ClientRunOptions {
  readonly cwd: string;
  /** The complete environment. A client does not get variables of the machine. */
  readonly env: Readonly<Record<string, string>>;
  /** Text for the process's stdin, which stays open until the process ends. */
  readonly input?: string;
  readonly timeoutMs?: number;
  /** The process is ended when this returns true for its stdout. */
  readonly until?: (stdout: string) => boolean;
  /** Called with each piece of the process's stderr. */
  readonly heard?: (piece: string) => unknown;
}

/** Runs a program in its own process group. When the program ends or times out, the whole group is killed. */
export async function run(
  program: string,
  args: readonly string[],
  { cwd, env, input, until, heard, timeoutMs = 180_000 }: ClientRunOptions,
): Promise<ClientRun> {
  const child = spawn(program, args, { cwd, env: { ...env }, stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'], detached: true });
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All processes of the group have already ended.
    }
  };
  onTestFinished(endGroup);
  let stdout = '';
  let output = '';
  const { promise: enough, resolve } = Promise.withResolvers<'enough'>();
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
    output += chunk;
    if (until?.(stdout)) resolve('enough');
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
    heard?.(String(chunk));
  });
  child.stdin?.write(input);
  const ended = new Promise<number | null>((done, failed) => child.on('error', failed).on('exit', done));
  const closed = once(child, 'close');
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((done) => {
    timer = setTimeout(done, timeoutMs, 'late');
  });
  const how = await Promise.race([ended, late, enough]);
  clearTimeout(timer);
  endGroup();
  await closed;
  if (how === 'late') throw new Error(`${program} ${args.join(' ')}: not done after ${timeoutMs / 1000} s. What it wrote:\n${output}`);
  return { code: how === 'enough' ? 0 : how, stdout, output };
}

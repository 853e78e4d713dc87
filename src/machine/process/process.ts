import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { orNothing } from '../../wire/or-nothing.ts';
import { signalGroup } from './group.ts';

/** The program is not installed, or not on the server's PATH. */
export class ProgramMissing extends Error {
  override readonly name = 'ProgramMissing';
  readonly program: string;

  constructor(program: string) {
    super(`${program} was not found on the server's PATH`);
    this.program = program;
  }
}

/** The working folder does not exist. */
export class FolderMissing extends Error {
  override readonly name = 'FolderMissing';

  constructor(folder: string) {
    super(`${folder} is not a folder on the server's machine`);
  }
}

/** The system refused to start the program, for example because of missing permissions, too many processes or descriptors, or invalid arguments. */
export class ProgramNotStarted extends Error {
  override readonly name = 'ProgramNotStarted';

  constructor(program: string, cause: Error) {
    super(`${program} could not be started: ${cause.message}`, { cause });
  }
}

export class ProgramTimedOut extends Error {
  override readonly name = 'ProgramTimedOut';

  constructor(program: string, timeoutMs: number) {
    super(`${program} took longer than ${timeoutMs} ms and was stopped`);
  }
}

export interface RunOptions {
  readonly cwd: string;
  /** The complete environment. By default, the server's own environment. */
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly input?: string | undefined;
  /** The limit for each of the two output streams. Output beyond the limit is read and dropped. */
  readonly maxOutputBytes: number;
}

export interface ProgramResult {
  /** Null if a signal that we did not send ended the program. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

/** How long a program may take to end before it is killed. */
const GRACE_MS = 2_000;
/** How long to wait for more output after the program has ended. A process that it started may keep the pipes open for longer. */
const DRAIN_MS = 500;

/** Runs a program with exactly these arguments, without a shell. After the timeout, the program and all processes that it started are killed. */
export async function runProgram(file: string, args: readonly string[], options: RunOptions): Promise<ProgramResult> {
  const { cwd, env = process.env, timeoutMs, signal, input, maxOutputBytes } = options;
  signal?.throwIfAborted();
  if (!isFolder(cwd)) throw new FolderMissing(cwd);
  // The program gets its own process group, so that it can be ended together with everything that it starts.
  const child = spawn(file, args, { cwd, env, detached: true, windowsHide: true, stdio: 'pipe' });
  const [stdout, stderr] = [collect(child.stdout, maxOutputBytes), collect(child.stderr, maxOutputBytes)];
  // The program may end without reading its input, which is not an error.
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');

  let stopped: unknown;
  let grace: NodeJS.Timeout | undefined;
  const stop = (reason: unknown) => {
    if (stopped !== undefined) return;
    stopped = reason;
    endGroup(child, 'SIGTERM');
    grace = setTimeout(() => endGroup(child, 'SIGKILL'), GRACE_MS);
  };
  const onAbort = () => stop(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => stop(new ProgramTimedOut(file, timeoutMs)), timeoutMs);
  try {
    const code = await ended(child, file);
    // The program itself has ended, but processes that it started may still run.
    if (stopped !== undefined) endGroup(child, 'SIGKILL');
    if (stopped !== undefined) throw stopped;
    return { code, stdout: stdout.text(), stderr: stderr.text(), truncated: stdout.cut() || stderr.cut() };
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    signal?.removeEventListener('abort', onAbort);
  }
}

function ended(child: ChildProcess, file: string): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(startError(file, error)));
    child.on('close', (code) => resolve(code));
    child.on('exit', (code) => {
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(code);
      }, DRAIN_MS).unref();
    });
  });
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) signalGroup(child.pid, signal);
}

export const isFolder = (path: string): boolean => orNothing(() => statSync(path).isDirectory()) ?? false;

export function startError(program: string, error: unknown): Error {
  const cause = error instanceof Error ? error : new Error(String(error));
  return (cause as NodeJS.ErrnoException).code === 'ENOENT' ? new ProgramMissing(program) : new ProgramNotStarted(program, cause);
}

function collect(stream: NodeJS.ReadableStream, most: number): { text(): string; cut(): boolean } {
  const chunks: Buffer[] = [];
  let size = 0;
  let cut = false;
  stream.on('data', (chunk: Buffer) => {
    const room = most - size;
    if (chunk.length > room) cut = true;
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    size += kept.length;
    chunks.push(kept);
  });
  stream.on('error', () => {});
  return { text: () => Buffer.concat(chunks).toString('utf8'), cut: () => cut };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { orNothing } from '../../wire/or-nothing.ts';
import { signalGroup } from './group.ts';

/** The program is not installed, or not where the server looks for programs. */
export class ProgramMissing extends Error {
  override readonly name = 'ProgramMissing';
  readonly program: string;

  constructor(program: string) {
    super(`${program} was not found on the server's PATH`);
    this.program = program;
  }
}

/** The folder in which it was to run is not there. */
export class FolderMissing extends Error {
  override readonly name = 'FolderMissing';

  constructor(folder: string) {
    super(`${folder} is no folder on the server's machine`);
  }
}

/** The system refused to start it: no right to, no more processes or descriptors, arguments that no program can be given. */
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
  /** The whole environment, not additions to the server's own. */
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly input?: string | undefined;
  /** Of each stream; what goes beyond is read and dropped. */
  readonly maxOutputBytes: number;
}

export interface ProgramResult {
  /** Null: ended by a signal that was not ours. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

/** How long a program may take to end when it is asked to, before it is made to. */
const GRACE_MS = 2_000;
/** A grandchild may keep the pipes open after the program has ended; nobody waits for it. */
const DRAIN_MS = 500;

/** Runs a program with these very arguments: no shell reads them. Whatever it started dies with it when its time is up. */
export async function runProgram(file: string, args: readonly string[], options: RunOptions): Promise<ProgramResult> {
  const { cwd, env = process.env, timeoutMs, signal, input, maxOutputBytes } = options;
  signal?.throwIfAborted();
  if (!isFolder(cwd)) throw new FolderMissing(cwd);
  // A group of its own, so that all it starts can be ended together.
  const child = spawn(file, args, { cwd, env, detached: true, windowsHide: true, stdio: 'pipe' });
  const [stdout, stderr] = [collect(child.stdout, maxOutputBytes), collect(child.stderr, maxOutputBytes)];
  // It may end without having read what it was given.
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
    // The program itself obeyed; what it had started may not have.
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

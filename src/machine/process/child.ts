import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { waitAtMost } from '../../kernel/clock.ts';
import { MARK, runningMembers, signalAll, startOf } from './group.ts';
import { FolderMissing, isFolder, startError } from './process.ts';

export interface ChildSpec {
  readonly file: string;
  readonly args: readonly string[];
  /** The complete environment. Nothing is added from the server's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** A mark in the environment of the child's processes, by which they are found even after they leave its process group. */
  readonly marker?: string;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that runs until it is stopped, in its own process group. */
export interface Child {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ChildExit>;
  /**
   * Stops the child in three steps: closes its input, asks it to end, then kills it and all processes that it started. Each step gets `graceMs` to take
   * effect. Resolves when no process is left and all descriptors are closed. If the child ends on its own, the processes that it leaves behind are ended
   * automatically.
   */
  stop(graceMs?: number): Promise<void>;
}

/** A process of the child could not be ended, because it belongs to another user or is stuck in the kernel. */
export class ProcessesLeft extends Error {
  override readonly name = 'ProcessesLeft';

  constructor(file: string, ids: readonly number[]) {
    super(`${file} was killed, but ${ids.length === 1 ? 'one of its processes' : 'some of its processes'} cannot be ended: ${ids.map(Math.abs).join(', ')}`);
  }
}

/** `began` is called in the same turn of the event loop in which a process group starts. `ended` is called after the group has ended. */
export interface GroupListener {
  began(group: number): void;
  ended(group: number): void;
}

const GRACE_MS = 1_000;
/** How long to wait after SIGKILL. Only a process that is stuck in the kernel survives longer. */
const KILL_MS = 10_000;
/** How long to wait for the child's last output, which may arrive after the child has ended. */
const DRAIN_MS = 500;
const LONGEST_LOOK_MS = 100;

/** Throws ProgramMissing, FolderMissing or ProgramNotStarted if the program cannot be started. */
export async function startChild(spec: ChildSpec, listener?: GroupListener): Promise<Child> {
  const { file, args, cwd, marker = randomUUID() } = spec;
  if (!isFolder(cwd)) throw new FolderMissing(cwd);
  const env = { ...spec.env, [MARK]: marker };
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(file, args, { cwd, env, detached: true, windowsHide: true, stdio: 'pipe' });
  } catch (error) {
    throw startError(file, error);
  }
  if (child.pid === undefined) {
    const [error] = await once(child, 'error');
    throw startError(file, error);
  }
  // Do not await anything before this call. The reaper ends the child if this process dies, so it must know about the child as early as possible.
  listener?.began(child.pid);
  return superviseChild(child, child.pid, file, marker, listener);
}

function superviseChild(child: ChildProcessWithoutNullStreams, pid: number, file: string, mark: string, listener: GroupListener | undefined): Child {
  const family = { groups: [pid], mark, since: startOf(pid) };
  const streams = [child.stdin, child.stdout, child.stderr];
  // The child may end without reading its input. These errors can be ignored, because each write also reports its own error.
  for (const stream of streams) stream.on('error', () => {});
  child.on('error', () => {});
  const exited = new Promise<ChildExit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));

  const allGoneWithin = async (ms: number): Promise<boolean> => {
    const until = performance.now() + ms;
    for (let pause = 5; ; pause = Math.min(pause * 2, LONGEST_LOOK_MS)) {
      if (runningMembers(family).length === 0) return true;
      if (performance.now() >= until) return false;
      await wait(pause);
    }
  };

  const endProcesses = async (graceMs: number): Promise<void> => {
    if (isRunning(child)) {
      child.stdin.end();
      await waitAtMost(graceMs, exited);
    }
    let left = runningMembers(family);
    if (left.length === 0) return;
    signalAll(left, 'SIGTERM');
    if (await allGoneWithin(graceMs)) return;
    // The loop repeats, because a process may be forked while the others are being killed.
    for (const until = performance.now() + KILL_MS; (left = runningMembers(family)).length > 0; ) {
      if (performance.now() >= until) throw new ProcessesLeft(file, left);
      signalAll(left, 'SIGKILL');
      await allGoneWithin(LONGEST_LOOK_MS);
    }
  };

  const end = async (graceMs: number): Promise<void> => {
    try {
      await endProcesses(graceMs);
      await exited;
      // After this, the system may reuse the pid.
      listener?.ended(pid);
      if (child.stdout.readableFlowing !== null) await waitAtMost(DRAIN_MS, closed);
    } finally {
      for (const stream of streams) stream.destroy();
    }
  };

  let ending: Promise<void> | undefined;
  const stop = (graceMs = GRACE_MS) => (ending ??= end(graceMs));
  // End the remaining processes of the group now. When the group is empty, the system may reuse its number.
  exited.then(() => stop()).catch(() => {});
  return { pid, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, stop };
}

const isRunning = (child: ChildProcessWithoutNullStreams): boolean => child.exitCode === null && child.signalCode === null;

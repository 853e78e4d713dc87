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
  /** The whole environment, not additions to the server's own. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Marks the child's processes, so that they are found even after they leave its process group. */
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
   * Closes its input, then asks it to end, then kills it and everything it started. Each step gets `graceMs` to take effect. Resolves when none of
   * its processes is left and all descriptors are closed. Processes that it leaves behind when it ends on its own are ended automatically.
   */
  stop(graceMs?: number): Promise<void>;
}

/** Some process of the child could not be ended: it belongs to another user or is stuck in the kernel. */
export class ProcessesLeft extends Error {
  override readonly name = 'ProcessesLeft';

  constructor(file: string, ids: readonly number[]) {
    super(`${file} was killed, but ${ids.length === 1 ? 'one of its processes' : 'some of its processes'} cannot be ended: ${ids.map(Math.abs).join(', ')}`);
  }
}

/** `began` is called in the same turn of the event loop in which the group starts; `ended` is called when it has ended. */
export interface GroupListener {
  began(group: number): void;
  ended(group: number): void;
}

const GRACE_MS = 1_000;
/** Nothing survives SIGKILL for long, except inside the kernel. */
const KILL_MS = 10_000;
/** The child's last output may still arrive after its end. */
const DRAIN_MS = 500;
const LONGEST_LOOK_MS = 100;

/** Rejects with ProgramMissing, FolderMissing or ProgramNotStarted. */
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
  // Nothing is awaited between the start and this call: the reaper ends the child if we die, so it must know the child as early as possible.
  listener?.began(child.pid);
  return superviseChild(child, child.pid, file, marker, listener);
}

function superviseChild(child: ChildProcessWithoutNullStreams, pid: number, file: string, mark: string, listener: GroupListener | undefined): Child {
  const family = { groups: [pid], mark, since: startOf(pid) };
  const streams = [child.stdin, child.stdout, child.stderr];
  // The child may end without reading its input. Writers get the error of their own write.
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
    // A process that was just being forked is caught by the next round.
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
      // From here on the pid may be reused.
      listener?.ended(pid);
      if (child.stdout.readableFlowing !== null) await waitAtMost(DRAIN_MS, closed);
    } finally {
      for (const stream of streams) stream.destroy();
    }
  };

  let ending: Promise<void> | undefined;
  const stop = (graceMs = GRACE_MS) => (ending ??= end(graceMs));
  // Its pid stays reserved only while its group has members, so they must be ended now and not later.
  exited.then(() => stop()).catch(() => {});
  return { pid, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, stop };
}

const isRunning = (child: ChildProcessWithoutNullStreams): boolean => child.exitCode === null && child.signalCode === null;

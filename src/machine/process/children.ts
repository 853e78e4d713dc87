import { randomUUID } from 'node:crypto';
import type { Log } from '../../kernel/log.ts';
import { type Child, type ChildSpec, startChild } from './child.ts';
import { createReaper } from './reaper.ts';

/** The long-running programs that one server process has started. They end with that process, even if it crashes. */
export interface Children {
  /** Throws ProgramMissing, FolderMissing or ProgramNotStarted if the program cannot be started. */
  start(spec: Omit<ChildSpec, 'marker'>): Promise<Child>;
  /** Ends all programs. After this, `start` refuses to start another one. */
  stopAll(graceMs?: number): Promise<void>;
  /** The process that ends the programs if the server dies. */
  readonly reaperPid: number | undefined;
  /** A mark in the environment of each program, by which all its processes are found. */
  readonly mark: string;
}

export function createChildren(log?: Log): Children {
  const mark = `${randomUUID()}.`;
  const reaper = createReaper(mark, log);
  const live = new Map<number, Child>();
  const starting = new Set<Promise<unknown>>();
  let count = 0;
  let stopping = false;
  const listener = {
    began: reaper.began,
    ended(group: number) {
      live.delete(group);
      reaper.ended(group);
    },
  };
  const begin = async (spec: ChildSpec): Promise<Child> => {
    const child = await startChild(spec, listener);
    live.set(child.pid, child);
    return child;
  };
  return {
    mark,
    get reaperPid() {
      return reaper.pid;
    },
    async start(spec) {
      if (stopping) throw new Error(`${spec.file} was not started: the server is shutting down`);
      const begun = begin({ ...spec, marker: `${mark}${++count}.` });
      starting.add(begun);
      return await begun.finally(() => starting.delete(begun));
    },
    async stopAll(graceMs) {
      stopping = true;
      await Promise.allSettled(starting);
      const results = await Promise.allSettled([...live.values()].map((child) => child.stop(graceMs)));
      for (const result of results) if (result.status === 'rejected') log?.warn('external server could not be stopped', { error: result.reason });
      await reaper.stop();
    },
  };
}

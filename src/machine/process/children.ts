import { randomUUID } from 'node:crypto';
import type { Log } from '../../kernel/log.ts';
import { type Child, type ChildSpec, startChild } from './child.ts';
import { createReaper } from './reaper.ts';

/** The long-lived programs of one server process. None of them outlives that process, however it ends. */
export interface Children {
  /** Rejects with ProgramMissing, FolderMissing or ProgramNotStarted. */
  start(spec: Omit<ChildSpec, 'marker'>): Promise<Child>;
  /** Ends all of them and starts no more. */
  stopAll(graceMs?: number): Promise<void>;
  /** The process that ends them if the server cannot. */
  readonly reaperPid: number | undefined;
  /** A value in the environment of each program, by which its processes are found. */
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

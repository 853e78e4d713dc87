import { readdirSync, readFileSync } from 'node:fs';

/**
 * Finds the processes of a child: its process group, processes that left the group but carry the child's mark in their environment, and everything
 * these have started. It imports nothing else, because the reaper depends on it.
 */

/** The environment variable that marks a process as ours, whichever group or session it moves to. */
export const MARK = 'COVENANT_CHILD_OF';

/** The id with which `process.kill` reaches the whole group. Windows has no groups. */
const groupId = (leader: number): number => (process.platform === 'win32' ? leader : -leader);

export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  signalAll([groupId(leader)], signal);
}

/** Each id is a process or, if negative, a group. */
export function signalAll(ids: readonly number[], signal: NodeJS.Signals): void {
  for (const id of ids) {
    // 0 and -1 would reach our own group, and every process.
    if (Math.abs(id) <= 1) continue;
    try {
      process.kill(id, signal);
    } catch {
      // The process is gone or belongs to another user; the next check shows which.
    }
  }
}

export interface ProcessFamily {
  /** The leaders of the groups. */
  readonly groups: Iterable<number>;
  /** The prefix of the mark. */
  readonly mark: string;
  /** The variable with the mark, if not `MARK`. */
  readonly variable?: string;
  /** From `startOf`: older processes are ignored. */
  readonly since?: number;
}

/** The family's running processes, as ids for `signalAll`. Zombies do not count. */
export function runningMembers({ groups, mark, variable = MARK, since = 0 }: ProcessFamily): number[] {
  const leaders = [...groups];
  const processes = readProcesses();
  if (!processes) return leaders.map(groupId).filter(processExists);
  const found = new Set<number>();
  const strays = new Set<number>();
  const kept = new Set(leaders);
  const needle = `${variable}=${mark}`;
  const ours = new Set<number>();
  for (const { pid, group, start } of processes) {
    const inGroup = kept.has(group);
    if (inGroup) found.add(group);
    else if (start >= since && carries(pid, needle)) strays.add(pid);
    else continue;
    ours.add(pid);
  }
  // Their children belong to them, even with another group and environment.
  for (let grown = true; grown; ) {
    grown = false;
    for (const { pid, parent } of processes) {
      if (!ours.has(parent) || ours.has(pid)) continue;
      ours.add(pid);
      strays.add(pid);
      grown = true;
    }
  }
  strays.delete(process.pid);
  return [...[...found].map(groupId), ...strays];
}

export interface MarkedProcess {
  readonly pid: number;
  readonly start: number;
  /** The value of the variable. */
  readonly value: string;
}

/** The leaders of groups that carry the variable, oldest first; undefined if the system does not show environments. */
export function markedLeaders(variable: string): MarkedProcess[] | undefined {
  return readProcesses()
    ?.filter(({ pid, group }) => pid === group)
    .flatMap(({ pid, start }) => {
      const value = environmentOf(pid)
        .split('\0')
        .find((entry) => entry.startsWith(`${variable}=`));
      return value === undefined ? [] : [{ pid, start, value: value.slice(variable.length + 1) }];
    })
    .sort((one, other) => one.start - other.start || one.pid - other.pid);
}

/** When the process started, in the system's own unit; 0 if the system does not say. */
export const startOf = (pid: number): number => readProcess(pid)?.start ?? 0;

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly start: number;
}

/** Undefined if the system has no /proc. */
function readProcesses(): Running[] | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
  } catch {
    return undefined;
  }
}

function readProcess(pid: number): Running | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name is in parentheses and may contain any character.
    const [state, parent, group, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    return { pid, parent: Number(parent), group: Number(group), start: Number(rest[16]) };
  } catch {
    // It ended in the meantime.
    return undefined;
  }
}

function carries(pid: number, needle: string): boolean {
  const environment = environmentOf(pid);
  return environment.startsWith(needle) || environment.includes(`\0${needle}`);
}

/** Empty for another user's process, and for one that is gone. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return '';
  }
}

/** Whether the process with this id exists. A negative id stands for a process group. */
export function processExists(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

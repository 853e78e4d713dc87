import { readdirSync, readFileSync } from 'node:fs';

/**
 * Finds all processes that belong to a child: its process group, processes outside the group that have the child's mark in their environment, and everything
 * that these have started. The reaper uses this module, so it imports no other module of Covenant.
 */

/** The environment variable with the mark. A process keeps it even if it moves to another group or session. */
export const MARK = 'COVENANT_CHILD_OF';

/** The id that makes `process.kill` signal the whole process group. Windows has no process groups. */
const groupId = (leader: number): number => (process.platform === 'win32' ? leader : -leader);

export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  signalAll([groupId(leader)], signal);
}

/** Sends the signal to each id. A negative id stands for a process group. */
export function signalAll(ids: readonly number[], signal: NodeJS.Signals): void {
  for (const id of ids) {
    // 0 would signal our own group, and -1 would signal every process.
    if (Math.abs(id) <= 1) continue;
    try {
      process.kill(id, signal);
    } catch {
      // The process has ended or belongs to another user. The next check shows which of the two it is.
    }
  }
}

export interface ProcessFamily {
  /** The leaders of the groups. */
  readonly groups: Iterable<number>;
  /** The prefix of the mark. */
  readonly mark: string;
  /** The environment variable that contains the mark. By default, `MARK`. */
  readonly variable?: string;
  /** A start time from `startOf`. Processes that started earlier are ignored. */
  readonly since?: number;
}

/** Returns the running processes of the family as ids for `signalAll`. Zombies are left out. */
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
  // Add the children of these processes, even if they have changed their group and environment.
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

/** Returns the group leaders that have the variable in their environment, oldest first. Undefined if the system does not show environments. */
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

/** Returns when the process started, in a unit that depends on the system. 0 if the system does not provide the time. */
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
    // The second field is the program's name. It is in parentheses and may contain any character, so parse after the last parenthesis.
    const [state, parent, group, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    return { pid, parent: Number(parent), group: Number(group), start: Number(rest[16]) };
  } catch {
    // The process has ended in the meantime.
    return undefined;
  }
}

function carries(pid: number, needle: string): boolean {
  const environment = environmentOf(pid);
  return environment.startsWith(needle) || environment.includes(`\0${needle}`);
}

/** Returns the environment of a process. Empty if the process belongs to another user or has ended. */
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

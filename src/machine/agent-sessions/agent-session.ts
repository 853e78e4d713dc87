import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { remaining, signalAll, startOf } from '../process/group.ts';

/** A program with a terminal of its own, or only a log, that outlives the server. */

/** In the environment of a session's processes: by it they are known whichever group they have gone to, and not taken for those of another home. */
export const SESSION_VARIABLE = 'COVENANT_SESSION';
const PLACE_LENGTH = 16;

/** `place`: what no other home has, its socket or its folder of logs. */
export const markOf = (name: string, place: string): string => `${name}:${hash('sha256', place).slice(0, PLACE_LENGTH)}`;

export interface SessionStart {
  /** Letters, digits, "-" and "_". */
  readonly name: string;
  readonly cwd: string;
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment, not additions to the server's own. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to its input; only a plain process takes it so. */
  readonly input?: string | undefined;
}

/** By what it is found again, also by another server process. */
export interface SessionHandle {
  readonly name: string;
  readonly pid: number;
  /** When the process started, in the system's own measure: its number alone may be somebody else's by now. */
  readonly started: number;
}

export type SessionLook = { readonly state: 'running' } | { readonly state: 'ended'; readonly code: number | null } | { readonly state: 'gone' };

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The same for tmux and for plain processes. */
export interface AgentSessions {
  readonly kind: 'tmux' | 'process';
  start(start: SessionStart): Promise<SessionHandle>;
  /** One that was started and perhaps never recorded. */
  find(name: string): Promise<SessionHandle | undefined>;
  look(handle: SessionHandle): Promise<SessionLook>;
  /** It, and all that it started. What it last showed stays readable. */
  end(handle: SessionHandle): Promise<void>;
  /** What is on its screen, with colours, and so many lines before that; of a plain process the end of its log. */
  screen(handle: SessionHandle, lines?: number): Promise<string>;
  /** One line, as if typed, and Enter. False where it has no terminal. */
  type(handle: SessionHandle, line: string): Promise<boolean>;
  /** Names of sessions that are there, whoever started them. */
  names(): Promise<string[]>;
}

const GRACE_MS = 2_000;
const KILL_MS = 10_000;
const LOOK_MS = 50;

interface Session {
  /** The leader of its group; null where that number is somebody else's by now. */
  readonly group: number | null;
  /** From `startOf`: a group of that number that began otherwise is somebody else's. */
  readonly started: number;
  /** By which those of its processes are known that have left the group. */
  readonly mark: string;
}

/** Asks a session's processes to end, then makes them: its group, and whatever it has started. */
export async function endAll({ group, started, mark }: Session): Promise<void> {
  const isOurs = group !== null && (startOf(group) === started || startOf(group) === 0);
  const kin = { groups: isOurs ? [group] : [], mark, variable: SESSION_VARIABLE, since: started };
  for (const [signal, patience] of [
    ['SIGTERM', GRACE_MS],
    ['SIGKILL', KILL_MS],
  ] as const) {
    let left = remaining(kin);
    // Again each time: what is ending may just have started another.
    for (let waited = 0; left.length > 0 && waited < patience; waited += LOOK_MS) {
      if (waited === 0 || signal === 'SIGKILL') signalAll(left, signal);
      await wait(LOOK_MS);
      left = remaining(kin);
    }
    if (left.length === 0) return;
  }
}

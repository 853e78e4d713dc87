import { hash } from 'node:crypto';

/** A program with a terminal of its own, or only a log, that outlives the server. */

/** In the environment of a session's processes: by it they are known whichever group they have gone to, and not taken for those of another home. */
export const SESSION_VARIABLE = 'COVENANT_SESSION';
const PLACE_LENGTH = 16;

/** `place`: what no other home has, its socket or its folder of logs. */
export const sessionMark = (name: string, place: string): string => `${name}:${hash('sha256', place).slice(0, PLACE_LENGTH)}`;

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

/** Identifies a session, also for another server process. */
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

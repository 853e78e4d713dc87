import { hash } from 'node:crypto';

/** An agent session is a program that outlives the server. It has its own terminal, or only a log. */

/** In the environment of a session's processes. Identifies them even after they change their process group, and distinguishes homes. */
export const SESSION_VARIABLE = 'COVENANT_SESSION';
const PLACE_LENGTH = 16;

/** `place` is the tmux socket or the log folder of this home, so that marks of different homes differ. */
export const sessionMark = (name: string, place: string): string => `${name}:${hash('sha256', place).slice(0, PLACE_LENGTH)}`;

export interface SessionStart {
  /** Letters, digits, "-" and "_". */
  readonly name: string;
  readonly cwd: string;
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment, not additions to the server's own. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to its standard input. Only plain processes support this. */
  readonly input?: string | undefined;
}

/** Identifies a session, also for another server process. */
export interface SessionHandle {
  readonly name: string;
  readonly pid: number;
  /** When the process started, in the system's own unit: a pid alone may be reused. */
  readonly started: number;
}

export type SessionLook = { readonly state: 'running' } | { readonly state: 'ended'; readonly code: number | null } | { readonly state: 'gone' };

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The same interface for tmux and for plain processes. */
export interface AgentSessions {
  readonly kind: 'tmux' | 'process';
  start(start: SessionStart): Promise<SessionHandle>;
  /** Finds a session that was started and perhaps never recorded. */
  find(name: string): Promise<SessionHandle | undefined>;
  look(handle: SessionHandle): Promise<SessionLook>;
  /** Ends the session and everything it started. Its last output stays readable. */
  end(handle: SessionHandle): Promise<void>;
  /** The screen with colours, plus that many lines before it. For a plain process, the end of its log. */
  screen(handle: SessionHandle, lines?: number): Promise<string>;
  /** Types one line and Enter. Returns false if the session has no terminal. */
  type(handle: SessionHandle, line: string): Promise<boolean>;
  /** The names of all existing sessions, no matter which server process started them. */
  names(): Promise<string[]>;
}

import { hash } from 'node:crypto';

/** An agent session is a program that outlives the server. It has its own terminal, or only a log. */

/**
 * An environment variable in all processes of a session. It identifies them even after they leave their process group, and its value is different for each
 * home.
 */
export const SESSION_VARIABLE = 'COVENANT_SESSION';
const PLACE_LENGTH = 16;

/** `place` is the tmux socket or the log folder of this home. It makes the marks of different homes different. */
export const sessionMark = (name: string, place: string): string => `${name}:${hash('sha256', place).slice(0, PLACE_LENGTH)}`;

export interface SessionStart {
  /** May contain letters, digits, "-" and "_". */
  readonly name: string;
  readonly cwd: string;
  readonly file: string;
  readonly args: readonly string[];
  /** The complete environment. Nothing is added from the server's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Text for the program's standard input. Only plain processes support this. */
  readonly input?: string | undefined;
}

/** Identifies a session, even to another server process. */
export interface SessionHandle {
  readonly name: string;
  readonly pid: number;
  /** When the process started, in a unit that depends on the system. It is needed because the system may reuse the pid. */
  readonly started: number;
}

export type SessionLook = { readonly state: 'running' } | { readonly state: 'ended'; readonly code: number | null } | { readonly state: 'gone' };

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The common interface of sessions in tmux and sessions as plain processes. */
export interface AgentSessions {
  readonly kind: 'tmux' | 'process';
  start(start: SessionStart): Promise<SessionHandle>;
  /** Finds a running session by its name, even if a crash prevented it from being recorded. */
  find(name: string): Promise<SessionHandle | undefined>;
  look(handle: SessionHandle): Promise<SessionLook>;
  /** Ends the session and all processes that it started. The last output can still be read. */
  end(handle: SessionHandle): Promise<void>;
  /** Returns the screen with colours, and before it up to `lines` earlier lines. For a plain process, returns the end of the log. */
  screen(handle: SessionHandle, lines?: number): Promise<string>;
  /** Types one line and Enter. Returns false if the session has no terminal. */
  type(handle: SessionHandle, line: string): Promise<boolean>;
  /** Returns the names of all existing sessions, including those that another server process started. */
  names(): Promise<string[]>;
}

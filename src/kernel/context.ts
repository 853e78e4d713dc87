import type { Db } from '../storage/engine.ts';
import type { NewEvent } from '../storage/journal.ts';
import type { Store } from '../storage/open.ts';
import type { Tx, WriteCallback } from '../storage/write.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

export type PrincipalKind = 'operator' | 'developer' | 'agent' | 'instance';

/** Who calls. Made by authentication alone; no input can change it. */
export interface Principal {
  readonly kind: PrincipalKind;
  readonly workspace: string;
  readonly tokenId: string;
  readonly developerId: string | null;
  readonly developerName: string | null;
  readonly agentType: string | null;
  readonly instanceId: string | null;
  /** Signed in with the dashboard's cookie rather than a token. */
  readonly web: boolean;
  /** When the person at the dashboard opened their sign-in link; null of every other caller. */
  readonly signedInAt: number | null;
  /** May administer the server: the local operator, and a workspace's first developer on the dashboard. */
  readonly operator: boolean;
  /** May run agents on the server's machine: the operator of the server, and operators of a workspace to whom it gave that permission. */
  readonly runsAgents: boolean;
  /** As it stands in the journal: ids only, never a name. */
  readonly actor: string;
  /** To whom grants may have been given that this caller may use. */
  readonly subjects: readonly string[];
}

/** Where a caller works, as its bridge or CLI says. It names what a call leaves out, and permits nothing. */
export interface CallerPlace {
  /** An absolute path on the caller's machine. */
  readonly folder: string;
  /** The remote's address without credentials, or the folder's name; null outside of any repository. */
  readonly repo: string | null;
  /** Null where none is checked out. */
  readonly branch: string | null;
}

export type Surface = 'mcp' | 'api' | 'dashboard' | 'cli';

/** What a handler gets besides its input. */
export interface CallContext {
  readonly principal: Principal;
  readonly workspace: string;
  readonly surface: Surface;
  readonly requestId: string;
  /** The agent session that the call named and owns; its events are linked to it. */
  readonly session: string | null;
  /** Where the caller works, as its bridge or CLI reports it: an absolute path on the caller's machine. */
  readonly repository: string | null;
  /** The same place by the names that a team has for it; null where nothing was said. */
  readonly place: CallerPlace | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Committed state. */
  readonly reader: Db;
  /** Aborts when the call has taken too long or the caller has gone. */
  readonly signal: AbortSignal;
  write<T>(callback: WriteCallback<T>): Promise<T>;
  /** A write that is made even when the time is up: what was done outside must be recorded. */
  settle<T>(callback: WriteCallback<T>): Promise<T>;
}

/** Inside a transaction there is `tx` and nothing else: another write would wait for this one for ever. */
export type WriteContext = Omit<CallContext, 'write' | 'settle' | 'reader'>;

/** An event by this caller, linked to the session that the call named. */
export function record(tx: Tx, ctx: WriteContext, event: Omit<NewEvent, 'actor'>): number {
  return tx.append({ session: ctx.session, ...event, actor: ctx.principal.actor });
}

/** What a call that goes on outside the store has to carry out. */
export class Deferred<P> {
  readonly work: P;
  constructor(work: P) {
    this.work = work;
  }
}

/** The parts every feature may use, made once in `main.ts`. */
export interface Services {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

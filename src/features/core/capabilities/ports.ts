import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import type { Gate } from './gate.ts';

/** The tools, and the gate that decides on calls of them. */
export interface GrantOffer {
  gate(): Gate;
  tools(workspace: string): readonly OfferedTool[];
}

interface OfferedTool {
  readonly name: string;
  /** `native`, or an external server's. */
  readonly server: string;
  readonly state: 'up' | 'starting' | 'down' | 'withheld';
}

/** At most one of them; none is the operator. */
export interface NamedSubject {
  developer?: string;
  token?: string;
  instance?: string;
}

/** Somebody who could call, as the gate would see them. */
export interface Caller {
  readonly principal: Principal;
  readonly subject: string;
  /** As `codex@mira`. */
  readonly name: string;
  /** Of the token; empty where there is none, or it is not for who looks. */
  readonly label: string;
  /** Set where their token lets them in no more: why. */
  readonly ended: string | null;
}

export interface CallersPage {
  readonly callers: readonly Caller[];
  readonly total: number;
}

/** Who can hold grants is known to identity, which imports this feature: `features/index.ts` passes it in. */
export interface Subjects {
  /** The subject that the input names, checked to exist. */
  resolve(db: Db, workspace: string, named: NamedSubject): Promise<string>;
  /** How a person would call them, as far as `viewer` may know. */
  names(db: Db, workspace: string, viewer: Principal, subjects: readonly string[]): Promise<(subject: string) => string>;
  /** The name that `names` gives to developers whom the viewer may not know. */
  readonly hidden: string;
  /** The callers that use the grants of the subject: a developer's tokens, an instance's, the one token, or the operator. */
  callersOf(db: Db, viewer: Principal, subject: string, now: number): Promise<CallersPage>;
  /** Everybody who could call now: all to the operator, their own to a developer. */
  callers(db: Db, viewer: Principal, page: { readonly limit: number; readonly offset: number }, now: number): Promise<CallersPage>;
}

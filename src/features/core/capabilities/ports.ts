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
  /** `native`, or the name of an external server. */
  readonly server: string;
  readonly state: 'up' | 'starting' | 'down' | 'withheld';
}

/** At most one of them. None means the operator. */
export interface NamedSubject {
  developer?: string;
  token?: string;
  instance?: string;
}

/** A possible caller, as the gate would see it. */
export interface Caller {
  readonly principal: Principal;
  readonly subject: string;
  /** For example `codex@mira`. */
  readonly name: string;
  /** The token's label; empty if there is none or the viewer may not see it. */
  readonly label: string;
  /** Why their token has ended; null while it is valid. */
  readonly ended: string | null;
}

export interface CallersPage {
  readonly callers: readonly Caller[];
  readonly total: number;
}

/** The identity feature knows who can hold grants, but it imports this feature. So `features/index.ts` passes these functions in. */
export interface Subjects {
  /** The subject that the input names, verified to exist. */
  resolve(db: Db, workspace: string, named: NamedSubject): Promise<string>;
  /** Display names, as far as `viewer` may see them. */
  names(db: Db, workspace: string, viewer: Principal, subjects: readonly string[]): Promise<(subject: string) => string>;
  /** The name that `names` returns for developers whom the viewer may not see. */
  readonly hidden: string;
  /** The callers that use the subject's grants: a developer's tokens, an instance's, one token, or the operator. */
  callersOf(db: Db, viewer: Principal, subject: string, now: number): Promise<CallersPage>;
  /** The callers who could call now. The operator gets all of them, a developer only their own. */
  callers(db: Db, viewer: Principal, page: { readonly limit: number; readonly offset: number }, now: number): Promise<CallersPage>;
}

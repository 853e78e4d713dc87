import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import type { Gate } from './gate.ts';

/** The tools for which grants can exist, and the gate that decides whether a call is allowed. */
export interface GrantOffer {
  gate(): Gate;
  tools(workspace: string): readonly OfferedTool[];
}

interface OfferedTool {
  readonly name: string;
  /** The name of an external server, or `native` for a tool of Covenant itself. */
  readonly server: string;
  readonly state: 'up' | 'starting' | 'down' | 'withheld';
}

/** At most one of these fields is set. If none is set, the subject is the operator. */
export interface NamedSubject {
  developer?: string;
  token?: string;
  instance?: string;
}

/** A possible caller, as the gate would see it. */
export interface Caller {
  readonly principal: Principal;
  readonly subject: string;
  /** The display name, such as `codex@mira`. */
  readonly name: string;
  /** The label of the token. Empty if there is no label or the viewer may not see it. */
  readonly label: string;
  /** Why the caller's token has ended. Null while the token is valid. */
  readonly ended: string | null;
}

export interface CallersPage {
  readonly callers: readonly Caller[];
  readonly total: number;
}

/**
 * Functions of the identity feature about the subjects of grants. This feature cannot import them, because the identity feature
 * imports this feature. So `features/index.ts` passes them in.
 */
export interface Subjects {
  /** Returns the subject that the input names. Throws a refusal if it does not exist. */
  resolve(db: Db, workspace: string, named: NamedSubject): Promise<string>;
  /** Returns a function that maps subjects to the display names that `viewer` may see. */
  names(db: Db, workspace: string, viewer: Principal, subjects: readonly string[]): Promise<(subject: string) => string>;
  /** The name that `names` returns for developers whom the viewer may not see. */
  readonly hidden: string;
  /** Returns the callers that use the subject's grants: the tokens of a developer or an instance, a single token, or the operator. */
  callersOf(db: Db, viewer: Principal, subject: string, now: number): Promise<CallersPage>;
  /** Returns the callers that could call now. Operators get all callers, developers only their own. */
  callers(db: Db, viewer: Principal, page: { readonly limit: number; readonly offset: number }, now: number): Promise<CallersPage>;
}

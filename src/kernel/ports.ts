import type { NewEvent } from '../storage/journal.ts';
import type { Tx } from '../storage/write.ts';
import type { Principal, Surface } from './call.ts';
import type { Toolset } from './contract.ts';
import type { Exchange, Json } from './relay.ts';
import type { Refused, Reply } from './reply.ts';
import type { Tracer } from './trace.ts';

/** The functions of features that the dispatcher calls. `main.ts` connects them. */

/** The kinds of calls. A capability is needed to call a tool or to use a resource or prompt of another server. Actions need a role instead. */
export type CallKind = AccessRequest['noun'] | 'action';

/** The prefix of each `requestState` that `suspend` returns. */
export const ROUND_PREFIX = 'cvr_';

/** The prefix of the `requestState` of an approval, and the key of Covenant's approval question in `inputRequests`. */
export const APPROVAL_PREFIX = 'cva_';
export const APPROVAL_QUESTION = 'covenant_approval';

/** Removes the caller's answer to an approval question from the exchange, because no other server may see that answer. */
export function withoutApproval(exchange: Exchange): Exchange {
  const { rounds } = exchange;
  if (!rounds?.requestState?.startsWith(APPROVAL_PREFIX)) return exchange;
  const { [APPROVAL_QUESTION]: _, ...others } = rounds.inputResponses ?? {};
  return { ...exchange, rounds: Object.keys(others).length > 0 ? { inputResponses: others } : {} };
}

/** A request to the gate. `toolset` is set if the caller's path serves only that toolset. */
export interface AccessRequest {
  readonly noun: 'tool' | 'resource' | 'prompt';
  readonly name: string;
  readonly args: unknown;
  /** The arguments without secrets and with the default repository filled in. They may be stored and shown to a person. */
  readonly redactedArgs: unknown;
  readonly toolset: Toolset | undefined;
  readonly aside?: Aside | undefined;
}

/** A request about a resource or prompt that does not read its content. The grant for reading also allows such a request, without approval. */
export type Aside = 'complete' | 'subscribe';

/** Earlier decisions about this call, which the gate does not repeat. */
export interface PriorDecision {
  /** The grant whose use a person has approved. */
  readonly approved?: string | undefined;
  /** The grant whose use was already counted in an earlier round of this call. */
  readonly resumed?: string | undefined;
}

/** The gate's decision on one call. */
export type AccessDecision = Passed | Denied;
export interface Passed {
  readonly allowed: true;
  readonly grant: { readonly id: string; readonly revision: number } | null;
  readonly check: NewEvent;
  /** Set if the grant counts its uses. The function counts one use, or denies the call if no use is left. */
  readonly consume?: (tx: Tx) => Promise<AccessDecision>;
  /**
   * Set if the call needs an approval first. `person`: only someone at this server may approve. `client`: the caller's client may
   * ask its user as well.
   */
  readonly approve?: 'person' | 'client' | undefined;
}
export interface Denied {
  readonly allowed: false;
  readonly check: NewEvent;
  readonly reply: Refused;
}

/** A call that waits until a person approves it. */
export interface HeldCall {
  readonly principal: Principal;
  readonly asked: AccessRequest;
  readonly argsDigest: string | null;
  readonly grantId: string;
  /** `person`: the caller's client is not asked, and its answer is ignored. */
  readonly approver: 'person' | 'client';
  readonly requestId: string;
  readonly exchange: Exchange | undefined;
  readonly signal: AbortSignal;
}
export type HoldOutcome =
  /** `exchange`: the caller's exchange without its answer to the approval. */
  | { readonly state: 'approved'; readonly approvalId: string; readonly exchange: Exchange | undefined }
  /** The caller's own client is asked and calls again with the answer. */
  | { readonly state: 'asked'; readonly result: Json }
  | { readonly state: 'refused'; readonly reply: Refused };

/**
 * Stored between two rounds of a call, which another server requests with `input_required`. All rounds of a call together count
 * as one use of the grant and need one approval.
 */
export interface Round {
  readonly grantId: string;
  readonly approvalId: string | null;
  /** The `requestState` of the other server, which is sent back to that server in the next round. */
  readonly requestState: string | undefined;
}

/** Limits how many events the calls of one token may add to the journal in a day. */
export interface JournalQuota {
  /** Returns a refusal if the token has used up its quota. */
  exceeded(principal: Principal): Refused | undefined | Promise<Refused | undefined>;
  /** Adds to the number of events that this caller's token has added to the journal today. */
  grew(principal: Principal, events: number): void;
}

export interface Ports {
  readonly journalQuota: JournalQuota;
  /** Counts a call that a limit refused. Such calls are not journaled. */
  countRefusal(principal: Principal, code: string): void;
  /** Returns the caller as a principal of the named workspace, and whether that workspace exists. Refuses callers who may not name a workspace. */
  enterWorkspace(principal: Principal, name: string): Promise<{ principal: Principal; exists: boolean }>;
  /** Decides whether a call is allowed. Called before the tool is looked up, so that callers cannot find out which tools exist. */
  authorize(principal: Principal, asked: AccessRequest, settled?: PriorDecision): Promise<AccessDecision>;
  /** Returns a function that checks whether a tool appears in this caller's tool list. */
  mayList(principal: Principal): Promise<(tool: string, toolset: Toolset) => boolean>;
  /** Resolves when a person has decided, or when the approval has expired. */
  hold(call: HeldCall): Promise<HoldOutcome>;
  /** Stores that the call has been counted. The caller sends the returned token with its next round. */
  suspend(principal: Principal, asked: AccessRequest, argsDigest: string | null, round: Round): Promise<string>;
  /** Returns the round that `suspend` stored. Each round is returned only once. Undefined if the token does not belong to this caller and call. */
  resume(principal: Principal, asked: AccessRequest, argsDigest: string | null, token: string): Promise<Round | undefined>;
  /** Throws a refusal if the session does not belong to the caller. The refusal is the same whether or not the session exists. */
  enterSession(principal: Principal, sessionId: string): Promise<void>;
  /** Renews the session that the call named. */
  touchSession(tx: Tx, sessionId: string): Promise<void>;
  /** Returns the state of the caller's work after a failed call. The journal stores it with the call. Undefined if there is nothing to add. */
  circumstances?(principal: Principal, tool: { readonly name: string; readonly toolset: Toolset }): Promise<Record<string, string> | undefined>;
  /** Returns the reply as this caller may read it. The result contains nothing that links two objects of a private developer. */
  redact(principal: Principal, reply: Reply<unknown>, args: unknown): Promise<Reply<unknown>>;
  observe(call: { name: string; surface: Surface; outcome: string; seconds: number }): void;
  /** Unset if no collector is configured. */
  readonly tracer?: Tracer | undefined;
}

import type { NewEvent } from '../storage/journal.ts';
import type { Tx } from '../storage/write.ts';
import type { Principal, Surface } from './call.ts';
import type { Toolset } from './contract.ts';
import type { Exchange, Json } from './relay.ts';
import type { Refused, Reply } from './reply.ts';
import type { Tracer } from './trace.ts';

/** The interfaces through which the pipe calls features. `main.ts` connects them. */

/** The kinds of calls. Tools, and resources and prompts of other servers, need a capability; actions need a role. */
export type CallKind = AccessRequest['noun'] | 'action';

/** The prefix of each `requestState` that `suspend` returns. */
export const ROUND_PREFIX = 'cvr_';

/** The prefix of the `requestState` of an approval, and the key of our question among those that a client is asked. */
export const APPROVAL_PREFIX = 'cva_';
export const APPROVAL_QUESTION = 'covenant_approval';

/** The exchange without the caller's answer to an approval, which no other server may see. */
export function withoutApproval(exchange: Exchange): Exchange {
  const { rounds } = exchange;
  if (!rounds?.requestState?.startsWith(APPROVAL_PREFIX)) return exchange;
  const { [APPROVAL_QUESTION]: _, ...others } = rounds.inputResponses ?? {};
  return { ...exchange, rounds: Object.keys(others).length > 0 ? { inputResponses: others } : {} };
}

/** A request to the gate. `toolset` is set if the caller's path serves only that one. */
export interface AccessRequest {
  readonly noun: 'tool' | 'resource' | 'prompt';
  readonly name: string;
  readonly args: unknown;
  /** The arguments without secrets and with the default repository filled in. They may be stored and shown to a person. */
  readonly redactedArgs: unknown;
  readonly toolset: Toolset | undefined;
  readonly aside?: Aside | undefined;
}

/** A request that belongs to a resource or prompt but does not read it. The same grant allows it, without approval. */
export type Aside = 'complete' | 'subscribe';

/** Earlier decisions about this call, which the gate does not repeat. */
export interface PriorDecision {
  /** The grant whose use a person has approved. */
  readonly approved?: string | undefined;
  /** The grant that was already counted for an earlier round of this call. */
  readonly resumed?: string | undefined;
}

/** The gate's decision on one call. */
export type AccessDecision = Passed | Denied;
export interface Passed {
  readonly allowed: true;
  readonly grant: { readonly id: string; readonly revision: number } | null;
  readonly check: NewEvent;
  /** Set if the grant counts its uses: takes one use, or denies the call if none is left. */
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

/** A call that waits for a person. */
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

/** One call of several rounds (`input_required`) is one use of its grant and one approval. */
export interface Round {
  readonly grantId: string;
  readonly approvalId: string | null;
  /** The other server's own value, to be returned to it. */
  readonly requestState: string | undefined;
}

/** Limits how many events the calls of one token may add to the journal in a day. */
export interface JournalQuota {
  /** The refusal, once the token has used up its quota. */
  exceeded(principal: Principal): Refused | undefined | Promise<Refused | undefined>;
  /** Adds to the number of events that this caller has put into the journal. */
  grew(principal: Principal, events: number): void;
}

export interface Ports {
  readonly journalQuota: JournalQuota;
  /** Counts a call that a limit refused. Such calls are not journaled. */
  countRefusal(principal: Principal, code: string): void;
  /** The caller in the named workspace, and whether the workspace exists. Refuses callers who may not name one. */
  enterWorkspace(principal: Principal, name: string): Promise<{ principal: Principal; exists: boolean }>;
  /** Called before the tool is looked up, so that callers cannot probe the catalogue. */
  authorize(principal: Principal, asked: AccessRequest, settled?: PriorDecision): Promise<AccessDecision>;
  /** Tells which tools are on this caller's list. */
  mayList(principal: Principal): Promise<(tool: string, toolset: Toolset) => boolean>;
  /** Resolves when a person has decided, or when the approval has expired. */
  hold(call: HeldCall): Promise<HoldOutcome>;
  /** Stores that the call has been counted. The caller sends the returned token with its next round. */
  suspend(principal: Principal, asked: AccessRequest, argsDigest: string | null, round: Round): Promise<string>;
  /** Returns the round that `suspend` stored, only once. Undefined if the token does not belong to this caller and call. */
  resume(principal: Principal, asked: AccessRequest, argsDigest: string | null, token: string): Promise<Round | undefined>;
  /** Refuses a session that does not belong to the caller, in the same words whether or not it exists. */
  enterSession(principal: Principal, sessionId: string): Promise<void>;
  /** Renews the session that the call named. */
  touchSession(tx: Tx, sessionId: string): Promise<void>;
  /** The state of the caller's work when its call failed, stored in the journal with the call. Undefined if there is nothing to add. */
  circumstances?(principal: Principal, tool: { readonly name: string; readonly toolset: Toolset }): Promise<Record<string, string> | undefined>;
  /** The reply as this caller may read it: nothing in it links two objects of a private developer. */
  redact(principal: Principal, reply: Reply<unknown>, args: unknown): Promise<Reply<unknown>>;
  observe(call: { name: string; surface: Surface; outcome: string; seconds: number }): void;
  /** Unset if no collector is configured. */
  readonly tracer?: Tracer | undefined;
}

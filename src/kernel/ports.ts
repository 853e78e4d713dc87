import type { NewEvent } from '../storage/journal.ts';
import type { Tx } from '../storage/write.ts';
import type { Principal, Surface } from './call.ts';
import type { Toolset } from './contract.ts';
import type { Exchange, Json } from './relay.ts';
import type { Refused, Reply } from './reply.ts';
import type { Tracer } from './trace.ts';

/** What the pipe asks of others, and in which words. `main.ts` wires it. */

/** What can be called: tools and, of other servers, resources and prompts by a capability; actions by a role. */
export type CallKind = AccessRequest['noun'] | 'action';

/** By which a `requestState` is known as one that `suspend` gave out. */
export const ROUND_PREFIX = 'cvr_';

/** By which a `requestState` is known as that of an approval; and our question among those that a client is asked at once. */
export const APPROVAL_PREFIX = 'cva_';
export const APPROVAL_QUESTION = 'covenant_approval';

/** The caller's side without what it brought for an approval: that is nobody else's. */
export function withoutApproval(exchange: Exchange): Exchange {
  const { rounds } = exchange;
  if (!rounds?.requestState?.startsWith(APPROVAL_PREFIX)) return exchange;
  const { [APPROVAL_QUESTION]: _, ...others } = rounds.inputResponses ?? {};
  return { ...exchange, rounds: Object.keys(others).length > 0 ? { inputResponses: others } : {} };
}

/** What the gate is asked for. `toolset`: the only one on the caller's path. */
export interface AccessRequest {
  readonly noun: 'tool' | 'resource' | 'prompt';
  readonly name: string;
  readonly args: unknown;
  /** The arguments without secrets, and with the repository that is meant: what may be kept, and shown to a person. */
  readonly redactedArgs: unknown;
  readonly toolset: Toolset | undefined;
  readonly aside?: Aside | undefined;
}

/** What comes with a resource or prompt and is not the thing itself: the same grant opens it, but no person is asked for it. */
export type Aside = 'complete' | 'subscribe';

/** What has been settled about this call before: the gate asks for it no second time. */
export interface PriorDecision {
  /** A person has approved the use of this grant. */
  readonly approved?: string | undefined;
  /** The call goes on with a round that this grant has been counted for already. */
  readonly resumed?: string | undefined;
}

/** The gate's word on one call. */
export type AccessDecision = Passed | Denied;
export interface Passed {
  readonly allowed: true;
  readonly grant: { readonly id: string; readonly revision: number } | null;
  readonly check: NewEvent;
  /** Set where the grant counts its uses: takes one, or says that there is none left. */
  readonly consume?: (tx: Tx) => Promise<AccessDecision>;
  /** Set where the call has to be approved before it is asked for again: by a person here, or in the caller's client as well. */
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
  /** `person`: the caller's client is neither asked nor believed. */
  readonly approver: 'person' | 'client';
  readonly requestId: string;
  readonly exchange: Exchange | undefined;
  readonly signal: AbortSignal;
}
export type HoldOutcome =
  /** `exchange`: the caller's, without what it brought for the approval. */
  | { readonly state: 'approved'; readonly approvalId: string; readonly exchange: Exchange | undefined }
  /** The caller's own client is asked: it calls again with the answer. */
  | { readonly state: 'asked'; readonly result: Json }
  | { readonly state: 'refused'; readonly reply: Refused };

/** One call of several rounds (`input_required`) is one use of its grant and one approval. */
export interface Round {
  readonly grantId: string;
  readonly approvalId: string | null;
  /** The other server's own word, to be given back to it. */
  readonly requestState: string | undefined;
}

/** How much the calls of one token may add to the journal in a day. */
export interface JournalQuota {
  /** The refusal, once the token has used up its quota. */
  exceeded(principal: Principal): Refused | undefined | Promise<Refused | undefined>;
  /** So many events more are in the journal because of this caller. */
  grew(principal: Principal, events: number): void;
}

export interface Ports {
  readonly journalQuota: JournalQuota;
  /** A call was refused by a limit: it is counted, not journaled. */
  countRefusal(principal: Principal, code: string): void;
  /** The caller in the named workspace, and whether that exists. Refuses whoever may not name one. */
  enterWorkspace(principal: Principal, name: string): Promise<{ principal: Principal; exists: boolean }>;
  /** Asked before the tool is looked up, so that the catalogue cannot be probed. */
  authorize(principal: Principal, asked: AccessRequest, settled?: PriorDecision): Promise<AccessDecision>;
  /** Resolves when a person has decided, or nobody has in time. */
  hold(call: HeldCall): Promise<HoldOutcome>;
  /** Keeps that the call has been counted; what the caller brings back with its next round. */
  suspend(principal: Principal, asked: AccessRequest, argsDigest: string | null, round: Round): Promise<string>;
  /** Takes the round that `suspend` kept, once. Undefined: none of this caller's for this call. */
  resume(principal: Principal, asked: AccessRequest, argsDigest: string | null, token: string): Promise<Round | undefined>;
  /** Refuses a session that is not the caller's own, in the same words whether or not it exists. */
  enterSession(principal: Principal, sessionId: string): Promise<void>;
  /** The session was heard of: by a call that named it. */
  touchSession(tx: Tx, sessionId: string): Promise<void>;
  /** Where the work of a caller stood whose call has failed; the journal keeps it with the call. Undefined: nothing to say. */
  circumstances?(principal: Principal, tool: { readonly name: string; readonly toolset: Toolset }): Promise<Record<string, string> | undefined>;
  /** The reply as this caller may read it: nothing in it ties two things of a private developer together. */
  redact(principal: Principal, reply: Reply<unknown>, args: unknown): Promise<Reply<unknown>>;
  observe(call: { name: string; surface: Surface; outcome: string; seconds: number }): void;
  /** Unset where nobody collects. */
  readonly tracer?: Tracer | undefined;
}

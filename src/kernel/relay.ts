import type { Log } from './log.ts';
import { Refusal } from './reply.ts';

/**
 * What the pipe and the surfaces know of other MCP servers' tools, prompts and resources. The pipe ends the protocol on both sides, so
 * everything here is the protocol's plain JSON, the same in every revision; no part of an SDK is named.
 */
export type Json = Record<string, unknown>;

/** The requests that a server may send to its client during a call. */
export const CLIENT_REQUESTS = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const;
export type ClientRequest = (typeof CLIENT_REQUESTS)[number];

/** Of log messages, from quiet to verbose: RFC 5424, as the protocol has it. */
export const LEVELS = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'] as const;

/** Whether a message of this level is at least as severe as `least`. Messages of an unknown level pass. */
export const isLoud = (level: unknown, least: string): boolean => rank(level) <= rank(least);

const rank = (level: unknown): number => (LEVELS as readonly unknown[]).indexOf(level);

/** The caller's side of a call under way: what its client can do besides wait for the result. */
export interface Exchange {
  /** As the client declared them. */
  readonly capabilities: Json;
  /** Set where the client asked to be told of progress. */
  readonly progress?: (params: Json) => void;
  /** Set where the client takes log messages; the least level it wants. */
  readonly log?: { readonly level: string; readonly send: (params: Json) => void };
  /** Asks the client and waits: clients of the older revisions. Those of the newer are asked by an `input_required` result. */
  readonly ask?: (method: ClientRequest, params: Json, signal: AbortSignal) => Promise<Json>;
  /** Set where the client can be answered with `input_required`; what it brings when it calls again. */
  readonly rounds?: { readonly inputResponses?: Json | undefined; readonly requestState?: string | undefined };
  /** The trace context from the call's `_meta`. */
  readonly meta: Json;
}

export interface RelayContext {
  /** Aborts when the call has taken too long, the caller has gone or the server stops. */
  readonly signal: AbortSignal;
  /** Unset where the caller can only wait: the direct endpoint and the CLI. */
  readonly exchange: Exchange | undefined;
  readonly requestId: string;
  readonly log: Log;
}

export interface ExternalTool {
  /** As it is offered, listed and granted. */
  readonly name: string;
  readonly server: string;
  readonly toolset: 'gateway';
  /** As the protocol publishes it, under the name as it is offered. */
  readonly definition: Json & { readonly inputSchema: Json };
  readonly state: 'up' | 'starting' | 'down';
  readonly timeoutMs: number;
  /** The protocol's own result, whatever is in it. Throws `UpstreamError` for what the server answered as an error, else a Refusal. */
  call(args: Json, ctx: RelayContext): Promise<Json>;
}

/** Where the registry looks for tools that come and go. */
export interface ToolSource {
  tool(name: string): ExternalTool | undefined;
  /** Sorted by name. */
  tools(): readonly ExternalTool[];
  /** Why a name that is not offered is not: said only to a caller who may call it. */
  withheld(name: string): Refusal | undefined;
}

export const NO_TOOLS: ToolSource = { tool: () => undefined, tools: () => [], withheld: () => undefined };

/** The other server has answered with an error of the protocol: it reaches the caller as it is. */
export class UpstreamError extends Refusal {
  readonly rpc: RpcError;

  constructor(server: string, rpc: RpcError) {
    super('UPSTREAM_ERROR', `The server ${server} answered: ${rpc.message}`, 'Correct the call, or ask the operator to look at `covenant servers logs`.', {
      server,
      rpc_code: rpc.code,
    });
    this.rpc = rpc;
  }
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const isInputRequired = (result: Json): boolean => result.resultType === 'input_required';

/** How a relayed call ended, as the journal has it. */
export function outcomeOf(result: Json): 'ok' | 'error_result' | 'input_required' {
  if (isInputRequired(result)) return 'input_required';
  return result.isError === true ? 'error_result' : 'ok';
}

/** The `requestState` that the caller sent belongs to none of its waiting calls. */
export function roundUnknown(): Refusal {
  return new Refusal(
    'ROUND_UNKNOWN',
    'This call cannot go on: its last round is over, too old, or was another call.',
    'Call again from the start, without requestState.',
  );
}

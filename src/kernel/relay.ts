import type { Log } from './log.ts';
import { Refusal } from './reply.ts';

/**
 * Types for tools, prompts and resources of other MCP servers. Covenant speaks MCP separately with the client and with the other
 * server, so these types contain only plain JSON that is the same in every protocol revision. They use no type of an MCP SDK.
 */
export type Json = Record<string, unknown>;

/** The requests that a server may send to its client during a call. */
export const CLIENT_REQUESTS = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const;
export type ClientRequest = (typeof CLIENT_REQUESTS)[number];

/** Levels of log messages, from most to least severe (RFC 5424, as MCP uses them). */
export const LEVELS = ['emergency', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'] as const;

/** Whether a message of this level is at least as severe as `least`. Messages of an unknown level pass. */
export const isLoud = (level: unknown, least: string): boolean => rank(level) <= rank(least);

const rank = (level: unknown): number => (LEVELS as readonly unknown[]).indexOf(level);

/** The connection to the caller's client during a call. It contains what the client can do besides waiting for the result. */
export interface Exchange {
  /** The capabilities that the client declared. */
  readonly capabilities: Json;
  /** Set if the client asked for progress notifications. */
  readonly progress?: (params: Json) => void;
  /** Set if the client accepts log messages; `level` is the minimum it wants. */
  readonly log?: { readonly level: string; readonly send: (params: Json) => void };
  /**
   * Asks the client a question and waits for the answer. For clients of older protocol revisions. Newer clients get questions as
   * an `input_required` result.
   */
  readonly ask?: (method: ClientRequest, params: Json, signal: AbortSignal) => Promise<Json>;
  /** Set if the client accepts `input_required`. Contains what the client added when it repeated the call. */
  readonly rounds?: { readonly inputResponses?: Json | undefined; readonly requestState?: string | undefined };
  /** The trace context from the call's `_meta`. */
  readonly meta: Json;
}

export interface RelayContext {
  /** Aborts when the call takes too long, the caller disconnects or the server stops. */
  readonly signal: AbortSignal;
  /** Undefined if the client can only wait for the result, as with the direct endpoint and the CLI. */
  readonly exchange: Exchange | undefined;
  readonly requestId: string;
  readonly log: Log;
}

export interface ExternalTool {
  /** The name under which the tool is listed, called and granted. */
  readonly name: string;
  readonly server: string;
  readonly toolset: 'gateway';
  /** The definition as MCP publishes it, under the published name. */
  readonly definition: Json & { readonly inputSchema: Json };
  readonly state: 'up' | 'starting' | 'down';
  readonly timeoutMs: number;
  /** Returns the protocol's own result unchanged. Throws `UpstreamError` if the server answered with an error, otherwise a Refusal. */
  call(args: Json, ctx: RelayContext): Promise<Json>;
}

/** Where the registry looks up tools of other servers, which can appear and disappear at any time. */
export interface ToolSource {
  tool(name: string): ExternalTool | undefined;
  /** Sorted by name. */
  tools(): readonly ExternalTool[];
  /** Returns the refusal that explains why a tool is withheld. Only callers who may call the tool receive it. */
  withheld(name: string): Refusal | undefined;
}

export const NO_TOOLS: ToolSource = { tool: () => undefined, tools: () => [], withheld: () => undefined };

/** The other server answered with a protocol error, which reaches the caller unchanged. */
export class UpstreamError extends Refusal {
  readonly rpc: RpcError;

  constructor(server: string, rpc: RpcError) {
    super(
      'UPSTREAM_ERROR',
      `The server ${server} answered: ${rpc.message}`,
      `Correct the arguments and call again, or ask the operator to read \`covenant servers logs ${server}\`.`,
      {
        server,
        rpc_code: rpc.code,
      },
    );
    this.rpc = rpc;
  }
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const isInputRequired = (result: Json): boolean => result.resultType === 'input_required';

/** How a relayed call ended, as the journal records it. */
export function outcomeOf(result: Json): 'ok' | 'error_result' | 'input_required' {
  if (isInputRequired(result)) return 'input_required';
  return result.isError === true ? 'error_result' : 'ok';
}

/** For a `requestState` that does not belong to any waiting call of the caller. */
export function roundUnknown(): Refusal {
  return new Refusal(
    'ROUND_UNKNOWN',
    'This call cannot continue: its `requestState` was already used, has expired or belongs to another call.',
    'Start over: repeat the call without `requestState` and `inputResponses`.',
  );
}

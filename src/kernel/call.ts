import type { CallerPlace, Principal, Surface } from './context.ts';
import type { Toolset } from './contract.ts';
import type { Refusal } from './errors.ts';
import type { Aside } from './ports.ts';
import type { Exchange, Json, RelayContext, RpcError } from './relay.ts';
import type { Reply } from './reply.ts';
import type { TraceContext } from './trace.ts';

export interface CallRequest {
  readonly name: string;
  readonly args: unknown;
  readonly principal: Principal;
  readonly surface: Surface;
  /** Where the operator wants to act, by name; everybody else acts in the workspace that their token is of. */
  readonly workspace?: string | undefined;
  /** The repository that the caller's bridge or CLI stands in, as it says. */
  readonly repository?: string | undefined;
  readonly place?: CallerPlace | undefined;
  /** The toolsets that the caller's path serves; all where it does not say. */
  readonly toolsets?: ReadonlySet<Toolset>;
  readonly signal?: AbortSignal | undefined;
  /** What the client says of itself and its turn, kept with the usage event so that its logs can be joined to ours. */
  readonly correlation?: Record<string, string> | undefined;
  /** Where the caller's own trace stands, if it was not said in the exchange. */
  readonly trace?: TraceContext | undefined;
  /** What the caller's client can do while the call is under way. */
  readonly exchange?: Exchange | undefined;
}

/** A request for what another server has besides tools. `name`: the server of a resource, the prompt as it is offered. */
export interface RelayRequest extends CallRequest {
  readonly noun: 'resource' | 'prompt';
  readonly aside?: Aside;
  readonly server: string;
  readonly timeoutMs: number;
  /** What `work` would refuse whoever approved it. */
  readonly unfit?: () => Refusal | undefined;
  readonly work: (ctx: RelayContext) => Promise<Json>;
}

export interface Answer {
  /** By which the journal and the log have the call. */
  readonly requestId: string;
  readonly reply: Reply<unknown>;
  readonly isError: boolean;
  /** The contract's documented response. */
  readonly body: Record<string, unknown>;
  /** The body is a whole MCP tool result, content and all. */
  readonly isToolResult: boolean;
  /** What another server answered, or a question to the caller's client: MCP carries it as it is. */
  readonly relayed?: { readonly result: Json } | { readonly error: RpcError };
}

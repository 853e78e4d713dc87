import type { NewEvent } from '../storage/journal.ts';
import type { CallerPlace, Principal, Surface } from './context.ts';
import type { Toolset } from './contract.ts';
import type { Refusal } from './errors.ts';
import type { Aside, CallKind } from './ports.ts';
import type { Exchange, Json, RelayContext, RpcError } from './relay.ts';
import type { Reply } from './reply.ts';
import type { RequestScope } from './request-scope.ts';
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

/** One call on its way through the pipe: what was asked, and what each step has added. The steps stand here in their order. */
export interface Call extends CallRequest {
  // It begins.
  readonly noun: CallKind;
  readonly aside?: Aside | undefined;
  readonly requestId: string;
  readonly errand: RequestScope;
  readonly started: number;
  /** The arguments as they may be kept. */
  readonly keepable: unknown;
  readonly argsDigest: string | null;
  /** Counts the events that this call adds to the journal. */
  readonly growth: { events: number };
  /** Events that the next write of this call must carry. */
  readonly trail: NewEvent[];

  // It enters its workspace.
  /** Where a call that changed nothing is journaled: not in a workspace that does not exist. */
  journalIn: string;
  isNewWorkspace?: boolean;
  /** Its token has used up its quota: of an essential call that is let through, only what it does is journaled. */
  overQuota?: boolean;

  // It is admitted.
  exchange: Exchange | undefined;
  grant: { readonly id: string; readonly revision: number } | null;
  approval: string | null;
  /** The grant bounds how often it is used: every round of this call is the same use. */
  counted: boolean;

  // It is carried out.
  /** Which server does it: `native`, or an external one's name. Only gateway calls say so. */
  server?: string | undefined;
  /** Set once it is known to be the caller's own. */
  session: string | null;
  /** Something of it is done and stays, whatever fails from then on. */
  kept?: boolean;
  /** Where the caller's work stood when the call failed. */
  circumstances?: Record<string, string> | undefined;
}

export interface CallAnswer {
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

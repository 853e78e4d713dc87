import type { Tx } from '../storage/write.ts';
import type { CallContext, Deferred, Services, WriteContext } from './call.ts';
import type { Contract, Input, Output } from './contract.ts';
import type { Reply } from './reply.ts';
import type { Sweep } from './sweep.ts';

/**
 * How a contract is implemented:
 * - `read`: reads committed state and changes nothing.
 * - `write`: changes state and adds events in one transaction, which also records the call. Inside it, only calls of `tx` may be awaited.
 *   `prepare` runs before the transaction. It fetches external data and changes nothing.
 * - `begin` and `act`: a write that usually completes the call. If `begin` returns `Deferred` work, `act` does that work outside of the
 *   transaction.
 * - `run`: several writes with an effect outside the store between them. If the server crashes between two writes, a sweep must finish or
 *   undo the work.
 */
export type Handler<C extends Contract, P = unknown> =
  | { readonly read: (input: Input<C>, ctx: CallContext) => Promise<Reply<Output<C>>> }
  | {
      readonly prepare?: (input: Input<C>, ctx: Omit<CallContext, 'write' | 'settle'>) => Promise<P>;
      readonly write: (tx: Tx, input: Input<C>, ctx: WriteContext, prepared: P) => Promise<Reply<Output<C>>>;
    }
  | {
      readonly begin: (tx: Tx, input: Input<C>, ctx: WriteContext) => Promise<Reply<Output<C>> | Deferred<P>>;
      readonly act: (begun: P, input: Input<C>, ctx: CallContext) => Promise<Reply<Output<C>>>;
    }
  | { readonly run: (input: Input<C>, ctx: CallContext) => Promise<Reply<Output<C>>> };

export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

/** A contract with its handler. The types here are general, because `implement` has already checked that the two match. */
export interface Implementation {
  readonly contract: Contract;
  readonly handler: Handler<Contract>;
  /** The content that a gateway tool returns instead of its data as JSON. */
  readonly content?: (data: Record<string, unknown>) => TextContent[];
}

export function implement<C extends Contract, P = undefined>(
  contract: C,
  handler: Handler<C, P>,
  options: { content?: (data: Output<C>) => TextContent[] } = {},
): Implementation {
  return { contract, handler, ...options } as unknown as Implementation;
}

/**
 * One kind of stored data, and how long it is kept after it is finished. null: forever. 'retention.days': as long as the
 * workspace's setting says.
 */
export interface RetentionInfo {
  readonly what: string;
  readonly ms: number | null | 'retention.days';
}

/** Everything that a feature provides to the server. */
export interface Feature {
  readonly name: string;
  readonly implementations: readonly Implementation[];
  readonly sweeps?: readonly Sweep[];
  /** What data the feature stores and for how long. The action `retention.list` shows this to people. */
  readonly keeps?: readonly RetentionInfo[];
  /** Repairs what an older version or a crash left behind, before the first call is served. */
  readonly start?: (services: Services) => Promise<void>;
  /** Stops everything that the feature runs outside of calls. */
  readonly stop?: () => Promise<void>;
}

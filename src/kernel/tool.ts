import type { Tx } from '../storage/write.ts';
import type { CallContext, Deferred, Services, WriteContext } from './call.ts';
import type { Contract, Input, Output } from './contract.ts';
import type { Reply } from './reply.ts';
import type { Sweep } from './sweep.ts';

/**
 * How a contract is implemented:\n- `read`: reads committed state and changes nothing.\n- `write`: state and events in one
 * transaction, which also records the call. Only `tx` may be awaited inside it. `prepare` fetches external data first and changes
 * nothing.\n- `begin`, `act`: a write that usually completes the call. If it returns `Deferred` work, `act` runs that work as
 * `run` would.\n- `run`: an external effect between several writes. After a crash between them, a sweeper must finish or undo the work.
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

/** A contract with its handler. `implement` checked the types of the pair; here they no longer matter. */
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

/** One kind of stored data, and how long it is kept once it is finished. null: forever; 'retention.days': the workspace's setting. */
export interface RetentionInfo {
  readonly what: string;
  readonly ms: number | null | 'retention.days';
}

/** Everything that a feature provides to the server. */
export interface Feature {
  readonly name: string;
  readonly implementations: readonly Implementation[];
  readonly sweeps?: readonly Sweep[];
  /** Shown to people who ask how long their data is kept. */
  readonly keeps?: readonly RetentionInfo[];
  /** Repairs what an older version or a crash left behind, before the first call is served. */
  readonly start?: (services: Services) => Promise<void>;
  /** Stops everything the feature runs besides calls. */
  readonly stop?: () => Promise<void>;
}

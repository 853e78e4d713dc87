import type { Tx } from '../storage/write.ts';
import type { CallContext, Deferred, Services, WriteContext } from './call.ts';
import type { Contract, Input, Output } from './contract.ts';
import type { Reply } from './reply.ts';
import type { Sweep } from './sweep.ts';

/**
 * How a contract is carried out:
 * - `read`: from committed state, changing nothing.
 * - `write`: state and events in one transaction, which also records the call. Only `tx` may be awaited. What must be
 *   fetched from outside first, changing nothing, is fetched by `prepare`.
 * - `begin`, `act`: a write that is mostly all there is to it; where it answers `Deferred` work, `act` carries that out,
 *   as `run` would.
 * - `run`: with an outside effect between several writes; a crash between them must be finished or undone by a sweeper.
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

/** A contract with its handler. The types of the pair were checked by `implement`; here they no longer matter. */
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

/** Something that is stored, and how long it stays once it is over; null: for good; else as long as the workspace has set. */
export interface RetentionInfo {
  readonly what: string;
  readonly ms: number | null | 'retention.days';
}

/** Everything that a feature provides to the server. */
export interface Feature {
  readonly name: string;
  readonly implementations: readonly Implementation[];
  readonly sweeps?: readonly Sweep[];
  /** For people who ask how long what they leave here stays. */
  readonly keeps?: readonly RetentionInfo[];
  /** Puts right what an older version or a crash left behind, before the first call is served. */
  readonly start?: (services: Services) => Promise<void>;
  /** Ends what the feature runs besides calls. */
  readonly stop?: () => Promise<void>;
}

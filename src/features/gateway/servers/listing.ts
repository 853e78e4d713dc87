import type { Json } from '../../../kernel/relay.ts';

/** What a server has told of itself and of what it has, all pages of it. */
export interface Listing {
  readonly facts: Facts;
  readonly tools: readonly Json[];
  readonly prompts: readonly Json[];
}

/** Not pinned: a server's word of itself, and resources, which are data and change like data. */
export interface Facts {
  readonly protocolVersion: string;
  readonly capabilities: Json;
  readonly serverInfo: Json | null;
  readonly resources: readonly Json[];
  readonly resourceTemplates: readonly Json[];
}

export const SERVER_STATES = ['disabled', 'stopped', 'idle', 'starting', 'up', 'down'] as const;
/** `idle`: lazy, and nobody has called yet. `stopped`: no server of Covenant runs that could have started it. */
export type ServerState = (typeof SERVER_STATES)[number];

export interface ServerStatus {
  readonly state: ServerState;
  /** Why it is down, in a sentence. */
  readonly problem: string | null;
  readonly pid: number | null;
  readonly since: number | null;
  /** Starts after the first one. */
  readonly restarts: number;
  readonly nextStartAt: number | null;
  readonly protocolVersion: string | null;
}

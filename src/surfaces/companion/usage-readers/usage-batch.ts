import { readPayload, type Source } from '../../../features/team/usage/sources.ts';
import { orNothing } from '../../../wire/or-nothing.ts';

/**
 * One use of a model, in the form that is sent: counters, the name of the model, and a hash as the id. It contains nothing else from the store of the agent.
 */
export interface UsageEvent {
  /** The same use always has the same id, even if it is read again or read from another store. */
  readonly id: string;
  /** The agent whose token reports the use. If it is undefined, the machine's token reports it. */
  readonly agent?: string | undefined;
  readonly source: Source;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The store from which the use was read. It is not sent. */
  readonly store?: string | undefined;
  readonly session_id?: string | undefined;
  readonly submitted_cost?: number | undefined;
}

export interface UsageBatch {
  /** Uses before this moment are not reported. */
  readonly since: number;
  /** If it returns true, the reader must stop. The reader continues from its cursor the next time. */
  full(): boolean;
  /** Adds an event. Ignores an event that was added before. */
  put(event: UsageEvent): void;
  /** Reports a part of the store that cannot be read, with the system's error code. The rest is still read. */
  missed?(code: string): void;
}

/** The position at which a reader continues, as plain JSON. */
export type Cursor = Readonly<Record<string, unknown>>;

export const countOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined);

/** Returns whether the server would count the payload. It must contain tokens, and all its counters must be valid. */
export const isCounted = (source: Source, payload: Record<string, unknown>): boolean => orNothing(() => readPayload(source, payload).length > 0) ?? false;

/** Converts a stored date to milliseconds since 1970. Returns undefined if the value is not a date. */
export function momentOf(value: unknown): number | undefined {
  const moment = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(moment) ? moment : undefined;
}

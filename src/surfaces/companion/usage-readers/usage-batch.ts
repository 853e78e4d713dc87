import { readPayload, type Source } from '../../../features/team/usage/sources.ts';
import { orNothing } from '../../../wire/or-nothing.ts';

/** One use of a model as it is sent: counters, the model's name and a hash as id. Nothing else from a store gets here. */
export interface UsageEvent {
  /** The same for the same use, wherever and however often it is read. */
  readonly id: string;
  /** The agent whose token reports it; undefined: the machine's token. */
  readonly agent?: string | undefined;
  readonly source: Source;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The store it was read from; not sent. */
  readonly store?: string | undefined;
  readonly session_id?: string | undefined;
  readonly submitted_cost?: number | undefined;
}

/** The batch that readers put events into. */
export interface UsageBatch {
  /** Uses before this moment are not reported. */
  readonly since: number;
  /** If true, the reader stops here and continues from here another time. */
  full(): boolean;
  /** Adds an event. An event that was put before is ignored. */
  put(event: UsageEvent): void;
  /** Reports a part of the store that cannot be read, with the system's error code. The rest is still read. */
  missed?(code: string): void;
}

/** Where a reader continues, as plain JSON. */
export type Cursor = Readonly<Record<string, unknown>>;

/** Undefined unless the value is a non-negative safe integer. */
export const countOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined);

/** Whether the server would count it: it has tokens, and valid counters. */
export const isCounted = (source: Source, payload: Record<string, unknown>): boolean => orNothing(() => readPayload(source, payload).length > 0) ?? false;

/** A stored date in milliseconds since 1970; undefined if it is not a date. */
export function momentOf(value: unknown): number | undefined {
  const moment = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(moment) ? moment : undefined;
}

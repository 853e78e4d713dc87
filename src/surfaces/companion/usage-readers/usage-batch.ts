import { readPayload, type Source } from '../../../features/team/usage/sources.ts';
import { orNothing } from '../../../wire/or-nothing.ts';

/** One use of a model, as it is sent: counters, the name of the model and a hash for an id. Nothing else of what a store holds gets here. */
export interface UsageEvent {
  /** The same for the same use, wherever and however often it is read. */
  readonly id: string;
  /** Whose token reports it; undefined: the machine's. */
  readonly agent?: string | undefined;
  readonly source: Source;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Where it was read; not sent. */
  readonly store?: string | undefined;
  readonly session_id?: string | undefined;
  readonly submitted_cost?: number | undefined;
}

/** The batch that readers put events into. */
export interface UsageBatch {
  /** Uses before this moment are not reported. */
  readonly since: number;
  /** If true, a reader stops here, and continues from here another time. */
  full(): boolean;
  /** An event that was put before is not taken again. */
  put(event: UsageEvent): void;
  /** A part of the store cannot be read, and why in the system's word. The rest is read all the same. */
  missed?(code: string): void;
}

/** Where a reader goes on: plain JSON. */
export type Cursor = Readonly<Record<string, unknown>>;

/** Undefined unless it is a whole number that can be a counter. */
export const countOf = (value: unknown): number | undefined => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined);

/** Whether the server would count it: some tokens, and counters that can be. */
export const isCounted = (source: Source, payload: Record<string, unknown>): boolean => orNothing(() => readPayload(source, payload).length > 0) ?? false;

/** Milliseconds since 1970 of what stores write as a date; undefined where it is none. */
export function momentOf(value: unknown): number | undefined {
  const moment = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(moment) ? moment : undefined;
}

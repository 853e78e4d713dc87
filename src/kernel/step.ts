import type { WriteCallback } from '../storage/write.ts';

/**
 * What is done outside the store is done in steps: a row says which one is under way and until when it may take. Whoever knows that
 * very time holds the step; when it has passed, the sweep takes the step over and finishes or undoes it.
 */

/** Who carries a step out: a call, or the sweep that finishes what a process has left. */
export interface Hand {
  readonly actor: string;
  readonly signal: AbortSignal | undefined;
  /** Made even if the time of a call is up: what was done outside must be recorded. */
  write<T>(callback: WriteCallback<T>): Promise<T>;
}

interface Stepping<Step> {
  readonly step: Step | null;
  readonly step_until: number | null;
}

export type Held<Row extends Stepping<unknown>> = Row & { readonly step: NonNullable<Row['step']>; readonly step_until: number };

export const STEP_OVER = { step: null, step_until: null } as const;

export const isUnderWay = (row: Stepping<unknown>, now: number): boolean => row.step !== null && (row.step_until ?? 0) > now;

/** Whether the row is still in the hands of who held it so. */
export const isHeldAs = (row: Stepping<unknown>, held: Stepping<unknown>): boolean => row.step === held.step && row.step_until === held.step_until;

/** Of several servers that saw it so, one takes it over. */
export const isLeft = (row: Stepping<unknown>, seen: Stepping<unknown>, now: number): boolean =>
  row.step !== null && row.step_until === seen.step_until && !isUnderWay(row, now);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 500);

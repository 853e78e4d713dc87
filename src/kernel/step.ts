import type { Tx, WriteCallback } from '../storage/write.ts';
import type { CallContext, Services } from './call.ts';
import { withSpan } from './trace.ts';

/**
 * Work outside the store is done in steps. A row records the step in progress and its deadline. Some rows also record the process
 * that runs the step. A runner owns the step as long as the row contains the deadline that the runner wrote. Once the deadline
 * has passed or the process has ended, the sweep takes the step over and finishes or undoes it.
 */

/** The runner of a step: a call, or the sweep that finishes the steps of a process that has ended. */
export interface StepRunner {
  readonly actor: string;
  readonly signal: AbortSignal | undefined;
  /** Also runs after the deadline of a call, because effects outside the store must be recorded. */
  write<T>(callback: WriteCallback<T>): Promise<T>;
}

/** For a step that a call runs. Without `signal`, the deadline of the call does not interrupt it. */
export const stepRunner = (ctx: Pick<CallContext, 'principal' | 'settle'>, signal?: AbortSignal): StepRunner => ({
  actor: ctx.principal.actor,
  signal,
  write: (callback) => ctx.settle(callback),
});

/** For a step that the sweep runs. */
export const serverRunner = (store: Services['store'], workspace: string): StepRunner => ({
  actor: 'server',
  signal: undefined,
  write: (callback) => store.write(workspace, callback),
});

interface Stepping<Step> {
  readonly step: Step | null;
  readonly step_until: number | null;
}

export type LeasedStep<Row extends Stepping<unknown>> = Row & { readonly step: NonNullable<Row['step']>; readonly step_until: number };

export const STEP_OVER = { step: null, step_until: null } as const;

export const isUnderWay = (row: Stepping<unknown>, now: number): boolean => row.step !== null && (row.step_until ?? 0) > now;

/** Whether the step in `row` is the same as in `held`, so that the runner that wrote `held` still owns it. */
export const isHeldAs = (row: Stepping<unknown>, held: Stepping<unknown>): boolean => row.step === held.step && row.step_until === held.step_until;

/**
 * Whether the deadline of the step has passed and the step is the same as in `seen`. If several servers check this, only one of
 * them takes the step over.
 */
export const isLeft = (row: Stepping<unknown>, seen: Stepping<unknown>, now: number): boolean =>
  row.step !== null && row.step_until === seen.step_until && !isUnderWay(row, now);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 500);

interface Carried<Step> extends Stepping<Step> {
  /** The process that runs the step. Null: any process may run it. */
  readonly step_by: string | null;
}

/** Identifies processes, so that others on the same machine can check whether they are alive. */
export interface Holders {
  readonly me: string;
  hasEnded(holder: string | null): boolean;
}

interface Leasing<Row> {
  readonly holders: Holders;
  /** Longer than any single step may take. */
  readonly stepMs: number;
  find(tx: Tx, row: Row): Promise<Row | undefined>;
  change(tx: Tx, row: Row, values: Partial<Row>): Promise<unknown>;
}

/** Manages who owns the steps of one table whose rows also record the process that runs the step. */
export function createLeases<Row extends Carried<unknown> & { readonly workspace_id: string; readonly id: string }>({
  holders,
  stepMs,
  find,
  change,
}: Leasing<Row>) {
  type Step = NonNullable<Row['step']>;
  const lease = (step: Step, now: number) => ({ step, step_until: now + stepMs, step_by: holders.me });
  /** The deadline has passed, or the process that ran the step has ended. */
  const isOverdue = (row: Pick<Carried<unknown>, 'step_until' | 'step_by'>, now: number): boolean =>
    (row.step_until ?? 0) <= now || holders.hasEnded(row.step_by);

  /** Returns the current row if the runner still owns its step. */
  async function stillMine(tx: Tx, leased: LeasedStep<Row>): Promise<Row | undefined> {
    const row = await find(tx, leased);
    return row && isHeldAs(row, leased) ? row : undefined;
  }

  async function prolong(tx: Tx, row: Row, step: Step, values: Partial<Row> = {}): Promise<LeasedStep<Row>> {
    const next = { ...values, ...lease(step, tx.now) };
    await change(tx, row, next as Partial<Row>);
    return { ...row, ...next };
  }

  /** Takes over an overdue step. If several processes try, only one succeeds. */
  async function takeOver(tx: Tx, seen: Row): Promise<LeasedStep<Row> | undefined> {
    const row = await find(tx, seen);
    return row?.step != null && isHeldAs(row, seen) && isOverdue(row, tx.now) ? await prolong(tx, row, row.step) : undefined;
  }

  return {
    lease,
    isOverdue,
    stillMine,
    /** Leaves the step to the sweep of any server on this machine. */
    leave: (step: Step, from: number) => ({ step, step_until: from, step_by: null }),
    /** Continues with the next step, or extends the same one. Undefined if another process has taken over. */
    async goOn(tx: Tx, leased: LeasedStep<Row>, step: Step, values?: Partial<Row>): Promise<LeasedStep<Row> | undefined> {
      const row = await stillMine(tx, leased);
      return row && (await prolong(tx, row, step, values));
    },
    takeOver,
    /** Finishes all overdue steps. A step that cannot be finished must not block the others. */
    async finishOverdue(
      { store, clock, log }: Services,
      seen: readonly Row[],
      finish: (runner: StepRunner, row: LeasedStep<Row>) => Promise<unknown>,
    ): Promise<void> {
      for (const one of seen) {
        if (!isOverdue(one, clock.now())) continue;
        const finished = async () => {
          const row = await store.write(one.workspace_id, (tx) => takeOver(tx, one));
          if (row) await withSpan(`step ${row.step}`, 'internal', {}, () => finish(serverRunner(store, row.workspace_id), row));
        };
        await finished().catch((error: unknown) => log.error('overdue step not finished', { id: one.id, step: one.step, error }));
      }
    },
  };
}

import type { Tx, WriteCallback } from '../storage/write.ts';
import type { CallContext, Services } from './call.ts';
import { withSpan } from './trace.ts';

/**
 * What is done outside the store is done in steps: a row says which one is under way and until when it may take, some also which
 * process carries it out. Whoever knows that very time holds the step; when it has passed, or that process has ended, the sweep takes
 * the step over and finishes or undoes it.
 */

/** The runner of a step: a call, or the sweep that finishes the steps of a process that has ended. */
export interface StepRunner {
  readonly actor: string;
  readonly signal: AbortSignal | undefined;
  /** Made even if the time of a call is up: what was done outside must be recorded. */
  write<T>(callback: WriteCallback<T>): Promise<T>;
}

/** For a step that a call carries out. Without `signal` it is not cut short when the time of the call is up. */
export const stepRunner = (ctx: Pick<CallContext, 'principal' | 'settle'>, signal?: AbortSignal): StepRunner => ({
  actor: ctx.principal.actor,
  signal,
  write: (callback) => ctx.settle(callback),
});

/** For a step that the sweep carries out. */
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

/** Whether the row is still in the hands of who held it so. */
export const isHeldAs = (row: Stepping<unknown>, held: Stepping<unknown>): boolean => row.step === held.step && row.step_until === held.step_until;

/** Of several servers that saw it so, one takes it over. */
export const isLeft = (row: Stepping<unknown>, seen: Stepping<unknown>, now: number): boolean =>
  row.step !== null && row.step_until === seen.step_until && !isUnderWay(row, now);

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 500);

interface Carried<Step> extends Stepping<Step> {
  /** The process that carries it out; null: whoever comes first. */
  readonly step_by: string | null;
}

/** Processes, as others on the same machine can tell whether they are still there. */
export interface Holders {
  readonly me: string;
  hasEnded(holder: string | null): boolean;
}

interface Leasing<Row> {
  readonly holders: Holders;
  /** Longer than any one step may take. */
  readonly stepMs: number;
  find(tx: Tx, row: Row): Promise<Row | undefined>;
  change(tx: Tx, row: Row, values: Partial<Row>): Promise<unknown>;
}

/** The steps of one kind of row, of which it is known which process carries them out. */
export function createLeases<Row extends Carried<unknown> & { readonly workspace_id: string; readonly id: string }>({
  holders,
  stepMs,
  find,
  change,
}: Leasing<Row>) {
  type Step = NonNullable<Row['step']>;
  const lease = (step: Step, now: number) => ({ step, step_until: now + stepMs, step_by: holders.me });
  /** Nobody carries it out any more: its time is up, or whoever did has ended. */
  const isOverdue = (row: Pick<Carried<unknown>, 'step_until' | 'step_by'>, now: number): boolean =>
    (row.step_until ?? 0) <= now || holders.hasEnded(row.step_by);

  /** As it stands now, if it is still in the same hands. */
  async function stillMine(tx: Tx, leased: LeasedStep<Row>): Promise<Row | undefined> {
    const row = await find(tx, leased);
    return row && isHeldAs(row, leased) ? row : undefined;
  }

  async function prolong(tx: Tx, row: Row, step: Step, values: Partial<Row> = {}): Promise<LeasedStep<Row>> {
    const next = { ...values, ...lease(step, tx.now) };
    await change(tx, row, next as Partial<Row>);
    return { ...row, ...next };
  }

  /** Takes over what is overdue. Of several that try, one gets it. */
  async function takeOver(tx: Tx, seen: Row): Promise<LeasedStep<Row> | undefined> {
    const row = await find(tx, seen);
    return row?.step != null && isHeldAs(row, seen) && isOverdue(row, tx.now) ? await prolong(tx, row, row.step) : undefined;
  }

  return {
    lease,
    isOverdue,
    stillMine,
    /** For the sweep of any server here to carry out. */
    leave: (step: Step, from: number) => ({ step, step_until: from, step_by: null }),
    /** On to the next step, or the same one for another while. Undefined where another has taken over. */
    async goOn(tx: Tx, leased: LeasedStep<Row>, step: Step, values?: Partial<Row>): Promise<LeasedStep<Row> | undefined> {
      const row = await stillMine(tx, leased);
      return row && (await prolong(tx, row, step, values));
    },
    takeOver,
    /** Carries out whatever of these is overdue. One that cannot be finished must not keep the others from it. */
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
        await finished().catch((error: unknown) => log.error('step not finished', { id: one.id, step: one.step, error }));
      }
    },
  };
}

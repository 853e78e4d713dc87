import type { Db } from '../storage/engine.ts';
import type { Tx } from '../storage/write.ts';
import type { Services } from './call.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { errorType, RequestScope, type Tracer } from './trace.ts';

/** Work that runs at regular intervals. It must be idempotent, because any process may run it, and several may run it at the same time. */
export interface Sweep {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

/**
 * Runs each sweep at its interval, never twice at the same time in this process. If a sweep becomes due while it is running, it
 * runs once more afterwards.
 */
export function startSweeping(sweeps: readonly Sweep[], clock: Clock, log: Log, tracer?: Tracer): { stop(): Promise<void> } {
  const stops: (() => void)[] = [];
  const running = new Set<Promise<void>>();
  for (const sweep of sweeps) {
    let busy = false;
    let due = false;
    const go = async () => {
      busy = true;
      do {
        due = false;
        await runOnce(sweep, log, tracer);
      } while (due);
      busy = false;
    };
    const onTime = () => {
      due = true;
      if (busy) return;
      const run = go().finally(() => running.delete(run));
      running.add(run);
    };
    stops.push(clock.every(sweep.everyMs, onTime));
  }
  return {
    async stop() {
      for (const stop of stops) stop();
      await Promise.all(running);
    },
  };
}

/** Runs a sweep once. A run that finds nothing to do sends no trace, because such runs happen every few seconds. */
async function runOnce(sweep: Sweep, log: Log, tracer: Tracer | undefined): Promise<void> {
  const scope = new RequestScope({ span: tracer?.begin(`sweep ${sweep.name}`, 'internal') });
  await scope.run(async () => {
    try {
      await sweep.run();
      if (scope.parts > 0) scope.span?.end();
    } catch (error) {
      log.error('sweep failed', { sweep: sweep.name, error });
      scope.span?.fail(errorType(error));
      scope.span?.end();
    }
  });
  scope.end();
}

/** Runs the work for one workspace after another. A failure in one is logged and does not stop the others. */
export async function inEachWorkspace(log: Log, sweep: string, workspaces: readonly string[], work: (workspace: string) => Promise<unknown>): Promise<void> {
  for (const workspace of workspaces) {
    await work(workspace).catch((error: unknown) => log.error('sweep failed in a workspace', { sweep, workspace, error }));
  }
}

interface DueRow {
  readonly workspace_id: string;
  readonly id: string;
}

interface DueWork<R extends DueRow> {
  readonly name: string;
  readonly everyMs: number;
  /** The number of rows read together. Rows of one workspace are settled in one write. */
  readonly atOnce: number;
  /** The due rows of all workspaces, oldest first. Read before anything is written, so that a server with nothing due writes nothing. */
  find(db: Db, now: number, limit: number): Promise<R[]>;
  /** Must re-check the row: another process may have settled it in the meantime. */
  settle(tx: Tx, row: R): Promise<unknown>;
}

/**
 * A sweep over rows that have a due time. If a row cannot be settled, the sweep logs it, settles all other rows and retries that
 * row in its next run.
 */
export function dueSweep<R extends DueRow>({ store, clock, log }: Pick<Services, 'store' | 'clock' | 'log'>, work: DueWork<R>): Sweep {
  const { name, everyMs, atOnce, find, settle } = work;
  const key = (row: R) => `${row.workspace_id} ${row.id}`;

  /** Settles the rows in one transaction. If that fails, settles each on its own, so that only the bad row fails. */
  async function settleIn(workspace: string, rows: readonly R[]): Promise<R[]> {
    const settleAll = (some: readonly R[]) =>
      store.write(workspace, async (tx) => {
        for (const row of some) await settle(tx, row);
      });
    try {
      await settleAll(rows);
      return [];
    } catch {
      const failed: R[] = [];
      let first: unknown;
      for (const row of rows) {
        await settleAll([row]).catch((error: unknown) => {
          first ??= error;
          failed.push(row);
        });
      }
      if (failed.length > 0) log.error('sweep could not settle rows', { sweep: name, workspace, rows: failed.map(({ id }) => id), error: first });
      return failed;
    }
  }

  return {
    name,
    everyMs,
    async run() {
      const failed = new Set<string>();
      for (;;) {
        // The limit grows by the number of failed rows, because the query returns them again, before the rows that became due later.
        const found = await find(store.reader, clock.now(), atOnce + failed.size);
        const due = found.filter((row) => !failed.has(key(row)));
        for (const [workspace, rows] of Map.groupBy(due, ({ workspace_id }) => workspace_id)) {
          for (const row of await settleIn(workspace, rows)) failed.add(key(row));
        }
        if (due.length < atOnce) return;
      }
    },
  };
}

import type { Clock } from './clock.ts';
import { Errand } from './errand.ts';
import type { Log } from './log.ts';
import { errorType, type Tracer } from './trace.ts';

/** Work that is due by the clock. Idempotent: any process may run it, and several may at once. */
export interface Sweep {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

/** Runs each sweep by the clock, never twice at once in this process; one that falls due while it runs, runs once more. */
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

/** One that found nothing to do is told to no collector: there are some every few seconds. */
async function runOnce(sweep: Sweep, log: Log, tracer: Tracer | undefined): Promise<void> {
  const errand = new Errand({ span: tracer?.begin(`sweep ${sweep.name}`, 'internal') });
  await errand.run(async () => {
    try {
      await sweep.run();
      if (errand.parts > 0) errand.span?.end();
    } catch (error) {
      log.error('sweep failed', { sweep: sweep.name, error });
      errand.span?.fail(errorType(error));
      errand.span?.end();
    }
  });
  errand.end();
}

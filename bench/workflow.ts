import { ENGINES, inChild } from './engine.ts';
import type { Benchmark, Report } from './run.ts';
import type { Figures, Latency } from './workflow-child.ts';

/** `BENCH_TASKS=1000,10000` for a shorter run. */
const SIZES = (process.env.BENCH_TASKS ?? '1000,10000,100000').split(',').map(Number);
const CALLS = Number(process.env.BENCH_CALLS ?? 200);
const CHECKPOINTS = 10_000;

/** Whole calls (read, journaled, synced) on a graph of up to 10,000 tasks and 30,000 edges, beside a call that does nothing. */
export const workflow: Benchmark = {
  name: 'workflow',
  async run(report) {
    for (const engine of ENGINES) {
      for (const tasks of SIZES)
        tell(
          report,
          `${engine}: ${tasks.toLocaleString('en')} tasks`,
          await inChild<Figures>('workflow-child.ts', engine, { tasks, calls: CALLS, checkpoints: CHECKPOINTS }),
        );
    }
  },
};

function tell(report: Report, name: string, figures: Figures): void {
  const line = (what: string, { p50, p99 }: Latency, beside: Latency, of: string) => {
    report.figure(`${name}, ${what} p50`, p50, `ms (${(p50 / beside.p50).toFixed(2)} × ${of})`);
    report.figure(`${name}, ${what} p99`, p99, 'ms');
  };
  report.figure(`${name}, a call that does nothing p50`, figures.clock.p50, 'ms');
  line('workflow_next_tasks', figures.next, figures.nextNaive, 'reading the whole graph');
  for (const { ready, latency } of figures.nextByReady) line(`workflow_next_tasks, ${ready} ready`, latency, figures.clock, 'a call that does nothing');
  line('workflow_progress', figures.progress, figures.clock, 'a call that does nothing');
  line(
    `task_load_context of ${CHECKPOINTS.toLocaleString('en')} checkpoints (${figures.contextTokens} tokens)`,
    figures.context,
    figures.contextNaive,
    'reading and counting all',
  );
  const calls = 4 * figures.tasksPerSecond;
  report.figure(
    `${name}, claim to complete by 32 agents`,
    figures.tasksPerSecond,
    `tasks/s (${(calls / figures.clockPerSecond).toFixed(2)} of the rate of calls that do nothing)`,
  );
  report.figure(`${name}, workflow_set_plan of the graph`, figures.planMs, 'ms');
}

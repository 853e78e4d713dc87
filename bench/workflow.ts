import type { Benchmark, BenchmarkReport } from './benchmark.ts';
import { CALLS, QUICK, ROUNDS, SECONDS, TASKS } from './effort.ts';
import { ENGINES, type EngineName, inChild } from './engine.ts';
import { besidePgBoss } from './peers/pg-boss.ts';
import { besideTaskMaster } from './peers/task-master.ts';
import type { Latency, WorkflowFigures } from './workflow-child.ts';

const CHECKPOINTS = QUICK ? 500 : 10_000;
const RACED = QUICK ? 40 : 160;

/**
 * Measures whole calls, which are journaled and synced to disk, on a graph of up to 10,000 tasks and 30,000 edges. The baselines are a plain implementation and
 * two other products.
 */
export const workflow: Benchmark = async (report) => {
  for (const engine of ENGINES) {
    for (const tasks of TASKS) {
      report.step(`${engine}, ${tasks.toLocaleString('en')} tasks`);
      tell(
        report,
        engine,
        tasks,
        await inChild<WorkflowFigures>('workflow-child.ts', engine, {
          tasks,
          calls: CALLS,
          checkpoints: CHECKPOINTS,
          rounds: ROUNDS,
          raced: RACED,
          seconds: SECONDS,
        }),
      );
    }
  }
  report.step('installing and measuring task-master');
  await besideTaskMaster(report);
  report.step('installing and measuring pg-boss');
  await besidePgBoss(report);
};

function tell(report: BenchmarkReport, engine: EngineName, tasks: number, figures: WorkflowFigures): void {
  const at = `${engine}, ${tasks.toLocaleString('en')} tasks`;
  const line = (what: string, { p50, p99 }: Latency, name: string, baseline: Latency, note?: string) =>
    report.figure({ name: `${what}, ${at}`, value: p50, unit: 'ms', p50, p99, baseline: { name, value: baseline.p50, unit: 'ms' }, ...(note && { note }) });
  const nothing = 'a no-op call';
  line('`workflow_next_tasks`', figures.next, 'reading the whole graph', figures.nextNaive);
  line('`workflow_next_tasks`', figures.next, nothing, figures.clock);
  for (const { ready, latency, clock } of figures.nextByReady) line(`\`workflow_next_tasks\` with ${ready} ready`, latency, nothing, clock);
  line('`workflow_progress`', figures.progress, nothing, figures.clock);
  line(
    '`task_load_context`',
    figures.context,
    'reading and counting all checkpoints',
    figures.contextNaive,
    `${CHECKPOINTS.toLocaleString('en')} checkpoints, ${figures.contextTokens} tokens`,
  );
  report.figure({
    name: `claim to complete by 32 agents, ${at}`,
    value: figures.tasksPerSecond,
    unit: '/s',
    baseline: { name: `plain ${engine}, only the events`, value: figures.plainPerSecond, unit: '/s' },
  });
  report.detail(`workflow_set_plan, ${at}`, figures.planMs, 'ms');
}

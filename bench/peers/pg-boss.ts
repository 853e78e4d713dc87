import type { BenchmarkReport } from '../benchmark.ts';
import { QUICK, ROUNDS } from '../effort.ts';
import { inChild } from '../engine.ts';
import { withPeer } from './peers.ts';
import type { PgBossFigures } from './pg-boss-child.ts';

const TASKS = QUICK ? 40 : 200;

/** Compares Covenant with pg-boss: 32 workers claim and complete work, in the same process and on the same PostgreSQL. */
export async function besidePgBoss(report: BenchmarkReport): Promise<void> {
  const folder = await withPeer('pg-boss', async (found) => found);
  const run = (boss?: string) => inChild<PgBossFigures>('peers/pg-boss-child.ts', 'PostgreSQL', { boss, tasks: TASKS, rounds: ROUNDS });
  const { tasksPerSecond, jobsPerSecond, error } = await run('value' in folder ? folder.value : undefined);
  const baseline =
    jobsPerSecond === undefined
      ? { name: folder.name, error: error ?? ('error' in folder ? folder.error : 'no reason given') }
      : { name: `${folder.name}, fetch and complete`, value: jobsPerSecond, unit: '/s' };
  report.figure({
    name: 'claim to complete by 32 agents, PostgreSQL',
    value: tasksPerSecond,
    unit: '/s',
    baseline,
    note: 'four calls and eight events per task',
  });
}

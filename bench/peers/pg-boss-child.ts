/** Runs our tasks and pg-boss jobs in turns: `node pg-boss-child.ts '{"boss":…}'`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { developer, openApp } from '../app.ts';
import type { Places } from '../engine.ts';
import { inTurns, mediansInTurns, middle } from '../turns.ts';

interface RunOptions extends Places {
  /** The folder of the pg-boss package. If it is missing, only Covenant is measured. */
  readonly boss?: string;
  readonly tasks: number;
  readonly rounds: number;
}

export interface PgBossFigures {
  readonly tasksPerSecond: number;
  readonly jobsPerSecond?: number;
  readonly error?: string;
}

/** The parts of the pg-boss API that are used here. */
interface Boss {
  on(event: 'error', listener: () => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
  createQueue(name: string): Promise<void>;
  insert(name: string, jobs: readonly object[]): Promise<unknown>;
  fetch(name: string): Promise<readonly { id: string }[]>;
  complete(name: string, id: string): Promise<unknown>;
}

const WORKERS = 32;
/** pg-boss gets as many database connections as Covenant uses. */
const CONNECTIONS = 20;
const QUEUE = 'bench';

const options = JSON.parse(process.argv[2] as string) as RunOptions;
const app = await openApp(options.ours);
const principal = await developer(app);
const agents = await Promise.all(Array.from({ length: WORKERS }, (_, n) => call<{ id: string }>('agent_register', { name: `agent ${n}`, runtime: 'custom' })));

process.stdout.write(`${JSON.stringify(await figures())}\n`);
await app.close();

async function figures(): Promise<PgBossFigures> {
  if (options.boss === undefined) return alone();
  try {
    const boss = await openBoss(options.boss);
    try {
      const [tasksPerSecond, jobsPerSecond] = (await mediansInTurns([ourRound, () => bossRound(boss)], options.rounds)) as [number, number];
      return { tasksPerSecond, jobsPerSecond };
    } finally {
      await boss.stop({ graceful: false });
    }
  } catch (error) {
    return { ...(await alone()), error: error instanceof Error ? error.message : String(error) };
  }
}

async function alone(): Promise<PgBossFigures> {
  const [rounds = []] = await inTurns([ourRound], options.rounds);
  return { tasksPerSecond: middle(rounds, (rate) => rate) };
}

async function call<T>(name: string, args: object): Promise<T> {
  const { reply } = await app.dispatch.tool({ name, args, principal, surface: 'api' });
  if (reply.status !== 'ok') throw new Error(`${name}: ${reply.message}`);
  return reply.data as T;
}

async function ourRound(): Promise<number> {
  const { id } = await call<{ id: string }>('workflow_create', {
    name: 'Bench',
    source_type: 'prompt',
    source_content: 'Many tasks.',
    repository_path: '/srv/app',
    max_parallel_tasks: WORKERS,
  });
  const tasks = Array.from({ length: options.tasks }, (_, at) => ({ name: `task ${at}`, description: 'Something to do.', sequence: at }));
  await call('workflow_set_plan', { id, plan: { summary: 'Much', approach: 'At once', tasks } });
  const { tasks: ready } = await call<{ tasks: { id: string }[] }>('workflow_next_tasks', { workflow_id: id, limit: options.tasks });
  return await rateOfAll(ready.length, async (worker) => {
    const agent_id = agents[worker]?.id;
    const task = ready.pop();
    if (!task) return false;
    const { fence } = await call<{ fence: number }>('task_claim', { task_id: task.id, agent_id });
    for (const change of [{ status: 'planning' }, { status: 'in_progress' }, { status: 'completed', outcome: 'done' }])
      await call('task_update_status', { id: task.id, agent_id, fence, ...change });
    return true;
  });
}

async function openBoss(folder: string): Promise<Boss> {
  const { PgBoss } = (await import(pathToFileURL(join(folder, 'dist/index.js')).href)) as { PgBoss: new (options: object) => Boss };
  const boss = new PgBoss({ connectionString: options.plain.url, max: CONNECTIONS, schedule: false, supervise: false });
  boss.on('error', () => {});
  await boss.start();
  await boss.createQueue(QUEUE);
  return boss;
}

async function bossRound(boss: Boss): Promise<number> {
  await boss.insert(
    QUEUE,
    Array.from({ length: options.tasks }, (_, at) => ({ data: { name: `task ${at}`, description: 'Something to do.' } })),
  );
  return await rateOfAll(options.tasks, async () => {
    const [job] = await boss.fetch(QUEUE);
    if (job) await boss.complete(QUEUE, job.id);
    return job !== undefined;
  });
}

/** Lets all workers process tasks until none is left, and returns the tasks per second. */
async function rateOfAll(all: number, step: (worker: number) => Promise<boolean>): Promise<number> {
  const started = performance.now();
  await Promise.all(
    Array.from({ length: WORKERS }, async (_, worker) => {
      while (await step(worker));
    }),
  );
  return Math.round(all / ((performance.now() - started) / 1_000));
}

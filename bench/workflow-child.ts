/** Measures one size on one engine, in its own process: `node workflow-child.ts '{"tasks":…}'`. */

import type { Principal } from '../src/kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../src/kernel/ids.ts';
import { newId } from '../src/storage/rows.ts';
import { developer, openApp, tidy } from './app.ts';
import { openPlain } from './baselines/plain.ts';
import type { Places } from './engine.ts';
import { inTurns, mediansInTurns, quantiles, rateOf } from './turns.ts';

interface RunOptions extends Places {
  readonly tasks: number;
  readonly calls: number;
  readonly checkpoints: number;
  readonly rounds: number;
  /** How many tasks the agents claim and complete in each round of `race`. */
  readonly raced: number;
  readonly seconds: number;
}

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

export interface WorkflowFigures {
  readonly planMs: number;
  /** The latency of a no-op call on the same store. */
  readonly clock: Latency;
  readonly next: Latency;
  /** The latency of finding the next tasks by reading all tasks and edges of the workflow. */
  readonly nextNaive: Latency;
  readonly nextByReady: readonly { readonly ready: number; readonly latency: Latency; readonly clock: Latency }[];
  readonly progress: Latency;
  readonly context: Latency;
  /** The latency of reading and tokenising every checkpoint, as would be necessary without a token budget. */
  readonly contextNaive: Latency;
  readonly contextTokens: number;
  /** How many tasks per second 32 agents claim, plan, start and complete. */
  readonly tasksPerSecond: number;
  /** How many tasks per second are possible if only their events are written, directly and with one COMMIT per call (two events per call). */
  readonly plainPerSecond: number;
}

const GRAPH = 10_000;
const WIDTH = 100;
const AGENTS = 32;

const options = JSON.parse(process.argv[2] as string) as RunOptions;
const app = await openApp(options.ours);
const principal: Principal = await developer(app);

async function call<T = Record<string, unknown>>(name: string, args: object): Promise<T> {
  const { reply } = await app.dispatch.tool({ name, args, principal, surface: 'api' });
  if (reply.status !== 'ok') throw new Error(`${name}: ${reply.message}`);
  return reply.data as T;
}

/** Measures the latencies of several functions, which are called in turns. The first call of each function is a warm-up and does not count. */
async function latencies<const Works extends readonly (() => Promise<unknown>)[]>(
  works: Works,
  calls = options.calls,
): Promise<{ [K in keyof Works]: Latency }> {
  const timed = works.map((work) => async () => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  });
  const rounds = await inTurns(timed, calls + 1);
  return rounds.map((times) => quantiles(times.slice(1))) as { [K in keyof Works]: Latency };
}

/** Creates a workflow with layers of 100 tasks, each with three dependencies. The first `ready` tasks have no dependencies. */
async function workflow(tasks: number, ready = WIDTH): Promise<string> {
  const plan = Array.from({ length: tasks }, (_, at) => {
    const [layer, column] = [Math.floor(at / WIDTH), at % WIDTH];
    const before = at < ready ? [] : [0, 1, 7].map((shift) => `task ${layer - 1}.${(column + shift) % WIDTH}`);
    return {
      name: `task ${layer}.${column}`,
      description: 'Move the parser of this module to the new grammar and keep its tests green.',
      sequence: layer,
      depends_on: before,
    };
  });
  const { id } = await call<{ id: string }>('workflow_create', {
    name: 'Bench',
    source_type: 'prompt',
    source_content: 'Move every parser to the new grammar.',
    repository_path: '/srv/app',
    max_parallel_tasks: AGENTS,
  });
  await call('workflow_set_plan', { id, plan: { summary: 'Layers', approach: 'One after another', tasks: plan } });
  return id;
}

const begun = performance.now();
const main = await workflow(Math.min(options.tasks, GRAPH));
const planMs = Math.round(performance.now() - begun);
for (let more = GRAPH; more < options.tasks; more += GRAPH) await workflow(GRAPH);
await tidy(app);

const [next, nextNaive, progress, clock] = await latencies([
  () => call('workflow_next_tasks', { workflow_id: main }),
  () => naiveNext(main),
  () => call('workflow_progress', { workflow_id: main }),
  () => call('clock', {}),
]);

const nextByReady: WorkflowFigures['nextByReady'][number][] = [];
if (options.tasks === GRAPH) {
  for (const ready of [100, 300, 1_000]) {
    const id = await workflow(GRAPH, ready);
    const [latency, clock] = await latencies([() => call('workflow_next_tasks', { workflow_id: id, limit: 1_000 }), () => call('clock', {})]);
    nextByReady.push({ ready, latency, clock });
  }
}

const { tasks: first } = await call<{ tasks: { id: string }[] }>('workflow_next_tasks', { workflow_id: main });
const task_id = (first[0] as { id: string }).id;
await checkpoints(task_id);
await tidy(app);
const [context, contextNaive] = await latencies(
  [() => call('task_load_context', { task_id, include: { all_checkpoints: true } }), () => naiveContext(task_id)],
  10,
);
const { token_estimate: contextTokens } = await call<{ token_estimate: number }>('task_load_context', { task_id, include: { all_checkpoints: true } });

const agents = await Promise.all(Array.from({ length: AGENTS }, (_, n) => call<{ id: string }>('agent_register', { name: `agent ${n}`, runtime: 'custom' })));
const open = await workflow(options.rounds * options.raced, options.rounds * options.raced);
const { tasks: ready } = await call<{ tasks: { id: string }[] }>('workflow_next_tasks', { workflow_id: open, limit: options.rounds * options.raced });
const work = ready.map(({ id }) => id);
const plain = await openPlain(options.plain, AGENTS);
const [tasksPerSecond, plainPerSecond] = (await mediansInTurns([() => race(work.splice(0, options.raced)), plainRace], options.rounds)) as [number, number];
await plain.close();

const figures: WorkflowFigures = {
  planMs,
  clock,
  next,
  nextNaive,
  nextByReady,
  progress,
  context,
  contextNaive,
  contextTokens,
  tasksPerSecond,
  plainPerSecond,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
await app.close();

/** Lets 32 agents claim and complete tasks. Returns the tasks per second. */
async function race(ids: string[]): Promise<number> {
  const all = ids.length;
  const started = performance.now();
  await Promise.all(
    agents.map(async ({ id: agent_id }) => {
      for (let id = ids.pop(); id; id = ids.pop()) {
        const { fence } = await call<{ fence: number }>('task_claim', { task_id: id, agent_id });
        for (const change of [{ status: 'planning' }, { status: 'in_progress' }, { status: 'completed', outcome: 'done' }])
          await call('task_update_status', { id, agent_id, fence, ...change });
      }
    }),
  );
  return Math.round(all / ((performance.now() - started) / 1_000));
}

/** Makes only the journal writes of `race`: four calls per task. Returns the tasks per second. */
async function plainRace(): Promise<number> {
  const { perSecond } = await rateOf((writer) => plain.append(writer, 2), AGENTS, options.seconds);
  return Math.round(perSecond / 4);
}

async function naiveNext(id: string): Promise<number> {
  const db = app.store.reader;
  const tasks = await db.selectFrom('workflow_tasks').selectAll().where('workspace_id', '=', DEFAULT_WORKSPACE_ID).where('workflow_id', '=', id).execute();
  const edges = await db
    .selectFrom('workflow_dependencies')
    .selectAll()
    .where('workspace_id', '=', DEFAULT_WORKSPACE_ID)
    .where('workflow_id', '=', id)
    .execute();
  const open = new Set(tasks.filter(({ status }) => status !== 'completed' && status !== 'skipped').map((task) => task.id));
  const blocked = new Set(edges.filter(({ depends_on }) => open.has(depends_on)).map((edge) => edge.task_id));
  return tasks.filter((task) => task.status === 'pending' && !blocked.has(task.id)).length;
}

async function naiveContext(id: string): Promise<number> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const rows = await app.store.reader
    .selectFrom('checkpoints')
    .selectAll()
    .where('workspace_id', '=', DEFAULT_WORKSPACE_ID)
    .where('task_id', '=', id)
    .execute();
  return countTokens(JSON.stringify(rows));
}

async function checkpoints(id: string): Promise<void> {
  await app.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    for (let at = 0; at < options.checkpoints; at += 500) {
      const rows = Array.from({ length: Math.min(500, options.checkpoints - at) }, (_, n) => ({
        workspace_id: DEFAULT_WORKSPACE_ID,
        task_id: id,
        sequence: at + n + 1,
        id: newId('cp', tx.now),
        type: 'progress' as const,
        summary: `Moved production ${at + n} to the new grammar; two of its tests needed new fixtures.`,
        detail: JSON.stringify({ production: at + n, tests: ['precedence', 'recovery'], note: 'the old table is still read by the formatter' }),
        files_changed: JSON.stringify([`src/grammar/production-${at + n}.ts`, 'src/grammar/table.ts']),
        agent_id: null,
        actor: 'bench',
        created_at: tx.now,
      }));
      await tx.db.insertInto('checkpoints').values(rows).execute();
    }
    await tx.db
      .updateTable('workflow_tasks')
      .set({ last_checkpoint: options.checkpoints })
      .where('workspace_id', '=', DEFAULT_WORKSPACE_ID)
      .where('id', '=', id)
      .execute();
  });
}

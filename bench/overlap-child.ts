/** Measures one size on one engine, in its own process so that its memory can be measured: `node overlap-child.ts '{"items":…}'`. */

import { indexItems } from '../src/features/team/overlap/index.ts';
import { analyse, postedTerms } from '../src/features/team/overlap/terms.ts';
import { DEFAULT_WORKSPACE_ID } from '../src/kernel/ids.ts';
import type { App } from '../src/main.ts';
import { newId } from '../src/storage/rows.ts';
import { developer, openApp, tidy } from './app.ts';
import { FullText } from './baselines/full-text.ts';
import type { Places } from './engine.ts';
import { type MadeTask, madeTask, rephrased } from './tasks.ts';
import { quantiles, rounded } from './turns.ts';

interface RunOptions extends Places {
  readonly items: number;
  readonly checks: number;
}

export interface OverlapFigures {
  items: number;
  /** Items indexed per second, one at a time, as the product indexes tasks. */
  incremental: number;
  /** The first check after a restart, which reads the index. */
  firstMs: number;
  p50: number;
  p99: number;
  found: number;
  residentMb: number;
  /** Median time to search for the same words in a full-text index of the same texts. */
  plainP50: number;
  /** How many texts per second are inserted into the full-text index, one by one in one transaction. */
  plainPerSecond: number;
}

const options = JSON.parse(process.argv[2] as string) as RunOptions;
const ONE_BY_ONE = 500;
const CHUNK = 400;

const open = (): Promise<App> => openApp(options.ours);

const filling = await open();
const principal = await developer(filling);
const bulk = Math.max(0, options.items - ONE_BY_ONE);
await fill(filling, bulk);
const started = performance.now();
await filling.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
  for (let seed = bulk; seed < options.items; seed++) {
    const task = madeTask(seed);
    await indexItems(tx, [
      {
        id: newId('task', tx.now),
        kind: 'task',
        ownerId: 'dev_other',
        ...task,
        description: null,
        action: null,
        component: null,
        taskType: 'feature',
        status: 'active',
        repo: null,
        closedAt: null,
      },
    ]);
  }
});
const incremental = Math.round((options.items - bulk) / ((performance.now() - started) / 1000));
await tidy(filling);
await filling.close();

const app = await open();
const before = process.memoryUsage().rss;
const times: number[] = [];
let found = 0;
const first = await check(app, 0);
found = 0;
const { index, plainPerSecond } = fullText();
const plainTimes: number[] = [];
for (let n = 1; n <= options.checks; n++) {
  times.push(await check(app, n));
  const begun = performance.now();
  index.best(asked(n));
  plainTimes.push(performance.now() - begun);
}
index.close();
const residentMb = Math.round((process.memoryUsage().rss - before) / 2 ** 20);
const figures: OverlapFigures = {
  items: options.items,
  incremental,
  firstMs: rounded(first),
  ...quantiles(times),
  found,
  residentMb,
  plainP50: quantiles(plainTimes).p50,
  plainPerSecond,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
await app.close();

/** Returns the n-th task to check. Half of these tasks rephrase a stored task. */
function asked(n: number): MadeTask {
  const original = Math.floor((n * 7_919) % Math.max(1, options.items));
  return n % 2 === 0 && options.items > 0 ? rephrased(madeTask(original), n) : madeTask(10_000_000 + n);
}

/** Makes a full-text index of the same texts. Only the last additions are timed. */
function fullText(): { index: FullText; plainPerSecond: number } {
  const index = new FullText(options.plain.path);
  index.add(Array.from({ length: bulk }, (_, seed) => madeTask(seed)));
  const last = Array.from({ length: options.items - bulk }, (_, n) => madeTask(bulk + n));
  const begun = performance.now();
  index.add(last);
  return { index, plainPerSecond: Math.round(last.length / ((performance.now() - begun) / 1000)) };
}

async function check(on: App, n: number): Promise<number> {
  const task = asked(n);
  const begun = performance.now();
  const { reply } = await on.dispatch.tool({
    name: 'covibe_task',
    args: { operation: 'check', title: task.title, scope: task.scope, task_type: 'feature', target_files: task.files },
    principal,
    surface: 'api',
  });
  const took = performance.now() - begun;
  if (reply.status === 'error') throw new Error(reply.message);
  if (n % 2 === 0 && reply.status === 'warning') found++;
  return took;
}

/** Writes the same rows as `indexItems`, but many at a time, because a million single writes would take an hour. */
async function fill(on: App, count: number): Promise<void> {
  if (count === 0) return;
  const frequencies = new Map<string, number>();
  const ws = DEFAULT_WORKSPACE_ID;
  for (let at = 0; at < count; at += 5_000) {
    await on.store.write(ws, async (tx) => {
      for (let chunk = at; chunk < Math.min(count, at + 5_000); chunk += CHUNK) {
        const rows = Array.from({ length: Math.min(CHUNK, count - chunk, at + 5_000 - chunk) }, (_, n) => {
          const seed = chunk + n;
          const task = madeTask(seed);
          const analysed = analyse({ ...task, description: null });
          for (const term of analysed.terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
          return { task, analysed, number: seed + 1, id: newId('task', tx.now) };
        });
        await tx.db
          .insertInto('overlap_items')
          .values(
            rows.map(({ task, analysed, number, id }) => ({
              workspace_id: ws,
              id,
              number,
              kind: 'task' as const,
              owner_id: 'dev_other',
              title: task.title,
              scope: task.scope,
              action: null,
              component: null,
              task_type: 'feature',
              status: 'active' as const,
              repo: null,
              analysed: JSON.stringify(analysed),
              prefix: analysed.prefix,
              files: JSON.stringify(task.files),
              revision: number,
              updated_at: tx.now,
              closed_at: null,
            })),
          )
          .execute();
        const postings = rows.flatMap(({ analysed, number }) =>
          postedTerms(analysed).map(({ term, weight }) => ({ workspace_id: ws, term, item: number, weight })),
        );
        for (let from = 0; from < postings.length; from += 4_000)
          await tx.db
            .insertInto('overlap_postings')
            .values(postings.slice(from, from + 4_000))
            .execute();
        const marks = rows.flatMap(({ task, id }) => [...new Set(task.files)].map((path) => ({ id, path })));
        if (marks.length > 0) {
          await tx.db
            .insertInto('file_marks')
            .values(
              marks.map(({ id, path }) => ({
                workspace_id: ws,
                path,
                source: 'task' as const,
                source_id: id,
                developer_id: 'dev_other',
                repo: null,
                action: null,
                label: null,
                marked_at: tx.now,
                expires_at: null,
              })),
            )
            .execute();
        }
      }
    });
  }
  await on.store.write(ws, async (tx) => {
    const terms = [...frequencies].map(([term, items]) => ({ workspace_id: ws, term, items }));
    for (let from = 0; from < terms.length; from += 4_000)
      await tx.db
        .insertInto('overlap_terms')
        .values(terms.slice(from, from + 4_000))
        .execute();
    await tx.db
      .insertInto('overlap_state')
      .values({ workspace_id: ws, revision: count, items: count, next_number: count + 1, settings: null })
      .execute();
  });
}

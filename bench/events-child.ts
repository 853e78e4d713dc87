/** Measures the journal on one engine, in its own process: `node events-child.ts '{"events":…}'`. */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { DEFAULT_WORKSPACE_ID } from '../src/kernel/ids.ts';
import { canonicalJson, readEvents } from '../src/storage/journal.ts';
import { openApp, operator, tidy } from './app.ts';
import { openPlain, SAMPLE_EVENT } from './baselines/plain.ts';
import type { Places } from './engine.ts';
import { mediansInTurns, type Rate, rateOf, ratesInTurns } from './turns.ts';

interface RunOptions extends Places {
  readonly writers: readonly number[];
  readonly batch: number;
  readonly events: number;
  readonly page: number;
  readonly seconds: number;
  readonly rounds: number;
}

export interface EventsFigures {
  readonly appends: readonly { readonly writers: number; readonly ours: Rate; readonly plain: Rate; readonly unchained?: Rate }[];
  /** Events per second if each append adds many events at once. */
  readonly batch: { readonly ours: number; readonly plain: number };
  /** Events per second. */
  readonly verify: { readonly ours: number; readonly hashing: number };
  readonly page: { readonly ours: Rate; readonly plain: Rate };
}

const options = JSON.parse(process.argv[2] as string) as RunOptions;
const { rounds, seconds } = options;
const app = await openApp(options.ours);
const principal = await operator(app);
const append = (events: number) =>
  app.store.append(
    DEFAULT_WORKSPACE_ID,
    Array.from({ length: events }, () => SAMPLE_EVENT),
  );

// Measurements that depend on the number of events come first.
const figures: EventsFigures = { verify: await verifying(), page: await paging(), appends: await appends(), batch: await batches() };
process.stdout.write(`${JSON.stringify(figures)}\n`);
await app.close();

async function appends(): Promise<EventsFigures['appends']> {
  const plain = await openPlain(options.plain, Math.max(...options.writers));
  const all: EventsFigures['appends'][number][] = [];
  for (const writers of options.writers) {
    const { unchained } = plain;
    const works = [() => rateOf(() => append(1), writers, seconds), () => rateOf((writer) => plain.append(writer), writers, seconds)];
    if (unchained) works.push(() => rateOf(unchained, writers, seconds));
    const [ours, baseline, alone] = (await ratesInTurns(works, rounds)) as [Rate, Rate, Rate?];
    all.push({ writers, ours, plain: baseline, ...(alone && { unchained: alone }) });
  }
  await plain.close();
  return all;
}

async function batches(): Promise<EventsFigures['batch']> {
  const plain = await openPlain(options.plain, 1);
  const works = [() => rateOf(() => append(options.batch), 1, seconds), () => rateOf(() => plain.append(0, options.batch), 1, seconds)];
  const [ours, baseline] = (await ratesInTurns(works, rounds)) as [Rate, Rate];
  await plain.close();
  return { ours: ours.perSecond * options.batch, plain: baseline.perSecond * options.batch };
}

async function action<T>(name: string, args: object): Promise<T> {
  const { reply } = await app.dispatch.action({ name, args, principal, surface: 'api' });
  if (reply.status !== 'ok') throw new Error(`${name}: ${reply.message}`);
  return reply.data as T;
}

/** Measures how fast `covenant audit verify` checks the journal, and how fast hashing alone is. */
async function verifying(): Promise<EventsFigures['verify']> {
  const { seq: before } = await headOf();
  for (let made = before; made < options.events; made += 1_000) await append(Math.min(1_000, options.events - made));
  await tidy(app);
  const { seq: all } = await headOf();
  const page = await readEvents(app.store.reader, DEFAULT_WORKSPACE_ID, 0, 1_000);
  const texts = page.map(({ hash: own, ...event }) => own + canonicalJson(event));
  const verify = async () => {
    const begun = performance.now();
    let at = { verified_to: 0, root: undefined as string | undefined, done: false, first_break: null as unknown };
    while (!at.done) at = await action('events.verify', { after: at.verified_to, ...(at.root && { previous: at.root }) });
    if (at.first_break) throw new Error('the journal does not verify');
    return Math.round(all / ((performance.now() - begun) / 1_000));
  };
  const hashing = async () => {
    const begun = performance.now();
    for (let n = 0; n < all; n++) hash('sha256', texts[n % texts.length] as string);
    return Math.round(all / ((performance.now() - begun) / 1_000));
  };
  const [ours, baseline] = (await mediansInTurns([verify, hashing], rounds)) as [number, number];
  return { ours, hashing: baseline };
}

async function headOf(): Promise<{ seq: number }> {
  return (await action<{ head: { seq: number } }>('events.list', { latest: 1 })).head;
}

async function paging(): Promise<EventsFigures['page']> {
  const after = Math.floor((await headOf()).seq / 2);
  const ours = () => action('events.list', { after, limit: options.page });
  const plain = async () => {
    const { rows } = await sql<{ payload: string }>`
      select * from events where workspace_id = ${DEFAULT_WORKSPACE_ID} and seq > ${after} order by seq limit ${options.page}`.execute(app.store.reader);
    return rows.map((row) => ({ ...row, payload: JSON.parse(row.payload) as unknown }));
  };
  const [mine, baseline] = (await ratesInTurns([() => rateOf(ours, 1, seconds), () => rateOf(plain, 1, seconds)], rounds)) as [Rate, Rate];
  return { ours: mine, plain: baseline };
}

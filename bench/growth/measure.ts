/** Measures one size on one engine, in its own process: `node measure.ts '{"size":…,"ours":{"path":…}}'`. */
import { openApp, type Place, quantile, tidy } from '../app.ts';
import { fill } from './fill.ts';
import { type FilledStore, openFilledStore } from './filled-store.ts';
import { OPERATIONS, type Operation } from './operations.ts';

export interface OperationTimes {
  readonly operation: string;
  readonly area: Operation['area'];
  readonly whole: boolean;
  /** The time of the fastest run. Other load on the machine affects it least. */
  readonly least_ms: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

interface RunOptions {
  readonly ours: Place;
  readonly size: number;
  /** True if the store is already filled. */
  readonly filled?: boolean;
  /** Measures only operations whose names contain this text. */
  readonly only?: string;
}

const RUNS = 40;
const WARM = 5;
/** After this time, an operation is not repeated any more. Slow operations therefore have fewer runs. */
const PATIENCE_MS = 2_000;

const options = JSON.parse(process.argv[2] as string) as RunOptions;
if (!options.filled) {
  await fill(options.ours, options.size);
  const app = await openApp(options.ours);
  await tidy(app);
  await app.close();
}
const ground = await openFilledStore(options.ours, options.size);
const measured: OperationTimes[] = [];
for (const operation of OPERATIONS) {
  if (operation.sqliteOnly && options.ours.url) continue;
  if (options.only && !operation.name.includes(options.only)) continue;
  const { name, area, whole = false } = operation;
  const times = await timesOf(ground, operation);
  measured.push({ operation: name, area, whole, least_ms: quantile(times, 0), p50_ms: quantile(times, 0.5), p99_ms: quantile(times, 0.99) });
}
process.stdout.write(`${JSON.stringify(measured)}\n`);
await ground.app.close();

async function timesOf(on: FilledStore, { before, work, after, whole }: Operation): Promise<number[]> {
  const times: number[] = [];
  const giveUp = performance.now() + PATIENCE_MS;
  for (let n = 0; n < RUNS + WARM && (n < (whole ? 1 : 3) || performance.now() < giveUp); n++) {
    const made = await before?.(on, n);
    const begun = performance.now();
    const given = await work(on, n, made);
    times.push(performance.now() - begun);
    await after?.(on, given);
  }
  return times.slice(Math.min(WARM, times.length - 1));
}

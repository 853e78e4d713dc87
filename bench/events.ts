import type { Benchmark, BenchmarkReport } from './benchmark.ts';
import { EVENTS, QUICK, ROUNDS, SECONDS } from './effort.ts';
import { ENGINES, type EngineName, inChild } from './engine.ts';
import type { EventsFigures } from './events-child.ts';
import { followed } from './followers.ts';

const WRITERS = QUICK ? [1, 32] : [1, 32, 256];
const BATCH = 256;
const PAGE = 200;
const FOLLOWERS = [1, 100];

/** The journal: appending, verifying, reading and following. */
export const events: Benchmark = async (report) => {
  for (const engine of ENGINES) {
    report.step(`${engine}, ${EVENTS.toLocaleString('en')} events`);
    const wanted = { writers: WRITERS, batch: BATCH, events: EVENTS, page: PAGE, seconds: SECONDS, rounds: ROUNDS };
    reportFigures(report, engine, await inChild<EventsFigures>('events-child.ts', engine, wanted));
  }
  for (const followers of FOLLOWERS) {
    report.step(followers === 1 ? '1 follower' : `${followers} followers`);
    const { ours, bare } = await followed(followers);
    report.figure({
      name: followers === 1 ? 'commit to receipt, 1 follower' : `commit to receipt, ${followers} followers`,
      value: ours.p50,
      unit: 'ms',
      ...ours,
      baseline: { name: 'bare ws server', value: bare.p50, unit: 'ms' },
      note: `bare p99 ${bare.p99} ms`,
    });
  }
};

function reportFigures(report: BenchmarkReport, engine: EngineName, { appends, batch, verify, page }: EventsFigures): void {
  for (const { writers, ours, plain, unchained } of appends) {
    const name = `events appended, ${engine}, ${writers === 1 ? '1 writer' : `${writers} writers`}`;
    report.rate(name, ours, { name: `plain ${engine}, one COMMIT each`, rate: plain });
    if (unchained) report.rate(name, ours, { name: `plain ${engine}, no chain`, rate: unchained });
  }
  const each = (name: string, value: number, other: string, plain: number) =>
    report.figure({ name: `${name}, ${engine}`, value, unit: '/s', baseline: { name: other, value: plain, unit: '/s' } });
  each(`events appended, ${BATCH} per commit`, batch.ours, `plain ${engine}, ${BATCH} per COMMIT`, batch.plain);
  each(`events verified, of ${EVENTS.toLocaleString('en')}`, verify.ours, 'a bare SHA-256 loop', verify.hashing);
  report.rate(`page of ${PAGE} from the middle of ${EVENTS.toLocaleString('en')}, ${engine}`, page.ours, { name: 'one plain query', rate: page.plain });
}

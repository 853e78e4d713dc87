/**
 * `npm run bench [-- NAME… --keep --quick]`: measures each figure and its baseline in the same run. Compare the ratios instead of the figures, because the
 * times vary with the load on the machine. A complete run is saved to bench/results.json and docs/benchmarks.md. A run of some areas is saved only with
 * `--keep`.
 */
import { AREAS, type AreaName } from './areas.ts';
import { type Benchmark, gatherer } from './benchmark.ts';
import { bridge } from './bridge.ts';
import { dashboard } from './dashboard.ts';
import { QUICK } from './effort.ts';
import { events } from './events.ts';
import { flood } from './flood.ts';
import { gateway } from './gateway.ts';
import { describeMachine } from './machine.ts';
import { overlap } from './overlap.ts';
import { overlapQuality } from './overlap-quality.ts';
import { pipe } from './pipe.ts';
import { progressLine } from './progress.ts';
import { writeDocument } from './report.ts';
import { type AreaRun, type Row, writeResults } from './results.ts';
import { startup } from './startup.ts';
import { tableOf } from './table.ts';
import { workflow } from './workflow.ts';

const BENCHMARKS: Readonly<Record<AreaName, Benchmark>> = {
  pipe,
  startup,
  workflow,
  overlap,
  'overlap-quality': overlapQuality,
  gateway,
  bridge,
  events,
  dashboard,
  flood,
};

const FLAGS = ['--quick', '--keep'];
const asked = process.argv.slice(2).filter((arg) => !FLAGS.includes(arg));
const names = AREAS.map(({ name }) => name);
const unknown = asked.filter((name) => !names.some((known) => known === name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown benchmark: ${unknown.join(', ')}. Choose from ${names.join(', ')}, or name none to run all.\n`);
  process.exit(2);
}
const wanted = names.filter((name) => asked.length === 0 || asked.includes(name));
const isKept = !QUICK && (wanted.length === names.length || process.argv.includes('--keep'));

const machine = await describeMachine();
const rows: Row[] = [];
const runs: Record<string, AreaRun> = {};
const progress = progressLine(wanted.length);
for (const [index, name] of wanted.entries()) {
  const started = performance.now();
  const at = new Date().toISOString();
  const gathered: Row[] = [];
  const report = gatherer(name, gathered, {
    step: (text) => progress.show(index, `${name}: ${text}`),
    detail: (what, value, unit) => asked.length > 0 && progress.print(`${what.padEnd(70)} ${String(value).padStart(8)} ${unit}`),
  });
  report.step('starting');
  const error = await BENCHMARKS[name](report).then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
  );
  if (error) progress.print(`${name} FAILED: ${error.stack}`);
  rows.push(...gathered);
  runs[name] = { at, seconds: Math.round((performance.now() - started) / 1000), ...(error && { error: error.message.slice(0, 300) }) };
  // Saves after each area, so that the results of an interrupted run are not lost.
  if (isKept) {
    writeResults({ machine, runs, rows });
    writeDocument();
  }
}
progress.done();

process.stdout.write(tableOf(rows));
if (QUICK) process.stdout.write('This was a quick run: its figures mean nothing.\n');
process.stdout.write(
  isKept ? 'Saved to bench/results.json and docs/benchmarks.md.\n' : QUICK ? 'Nothing was saved.\n' : 'Nothing was saved. Add --keep to save these results.\n',
);
process.exitCode = Object.values(runs).some(({ error }) => error) ? 1 : 0;

/** `npm run bench [-- NAME…]`: each figure beside its baseline, measured in the same run. The machine is noisy: read the ratios. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { bridge } from './bridge.ts';
import { dashboard } from './dashboard.ts';
import { gateway } from './gateway.ts';
import type { Rate } from './load.ts';
import { overlap } from './overlap.ts';
import { overlapQuality } from './overlap-quality.ts';
import { pipe, startup } from './pipe.ts';
import { workflow } from './workflow.ts';

export interface Report {
  row(name: string, rate: Rate, ratios: Record<string, number>): void;
  figure(name: string, value: number, unit: string): void;
}

export interface Benchmark {
  readonly name: string;
  run(report: Report): Promise<void>;
}

const BENCHMARKS: readonly Benchmark[] = [pipe, startup, overlap, overlapQuality, workflow, gateway, dashboard, bridge];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !BENCHMARKS.some((benchmark) => benchmark.name === name));
if (unknown.length > 0) {
  process.stderr.write(`there is no benchmark ${unknown.join(', ')}: choose from ${BENCHMARKS.map(({ name }) => name).join(', ')}\n`);
  process.exit(2);
}

const results: Record<string, unknown>[] = [];
const report: Report = {
  row(name, rate, ratios) {
    results.push({ name, ...rate, ...ratios });
    const words = Object.entries(ratios).map(([key, value]) => `${key} = ${value.toFixed(2)}`);
    process.stdout.write(`${name.padEnd(52)} ${String(rate.perSecond).padStart(7)}/s  p50 ${rate.p50} ms  p99 ${rate.p99} ms  ${words.join('  ')}\n`);
  },
  figure(name, value, unit) {
    results.push({ name, value, unit });
    process.stdout.write(`${name.padEnd(52)} ${String(value).padStart(7)} ${unit}\n`);
  },
};
for (const benchmark of BENCHMARKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  process.stdout.write(`# ${benchmark.name}\n`);
  await benchmark.run(report);
}
const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
writeFileSync(new URL('results.json', import.meta.url), `${JSON.stringify({ machine, results }, null, 2)}\n`);

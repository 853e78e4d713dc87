/** `npm run bench:growth [-- SQLite|PostgreSQL] [SIZE…]`: writes bench/growth.json, and a chart for each area in docs/benchmarks/. `-- draw` draws charts from earlier results. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { ENGINES, type EngineName, inChild } from '../engine.ts';
import { chartOf } from './chart.ts';
import { type Figure, grown, keepFigures, readFigures, SIZES } from './figures.ts';
import type { OperationTimes } from './measure.ts';
import { AREAS } from './operations.ts';
import { sectionOf, sizeName } from './section.ts';

const TITLES = {
  agents: 'What agents call',
  workflows: 'Workflows',
  journal: 'The journal',
  pages: 'What the dashboard reads',
  server: 'The server',
} as const satisfies Record<(typeof AREAS)[number], string>;

const wanted = process.argv.slice(2);
const engines = ENGINES.filter((engine) => wanted.includes(engine));
const sizes = wanted.map(Number).filter((size) => SIZES.some((known) => known === size));
const unknown = wanted.filter((word) => !ENGINES.some((engine) => engine === word) && !SIZES.some((size) => size === Number(word)));
const drawOnly = wanted.includes('draw');
if (unknown.some((word) => word !== 'draw')) {
  process.stderr.write(`unknown: ${unknown.join(', ')}. Choose from ${[...ENGINES, ...SIZES].join(', ')}, or use draw to draw charts from earlier results.\n`);
  process.exit(2);
}

if (!drawOnly) {
  for (const engine of engines.length > 0 ? engines : ENGINES) {
    for (const size of sizes.length > 0 ? sizes : SIZES) await measure(engine, size);
  }
}
const figures = readFigures();
draw(figures);
process.stdout.write(`${sectionOf(figures)}\n`);
for (const engine of ENGINES) {
  const [from, to] = SIZES.filter((size) => figures.some((each) => each.engine === engine && each.size === size)).slice(-2);
  if (from === undefined || to === undefined) continue;
  const more = grown(figures, engine, from, to);
  process.stdout.write(
    `\n${engine}, from ${sizeName(from)} to ${sizeName(to)}: ${more.length === 0 ? 'no unexpected growth' : `unexpected growth: ${more.join(', ')}`}\n`,
  );
}

async function measure(engine: EngineName, size: number): Promise<void> {
  process.stderr.write(`${engine}, ${size}\n`);
  const measured = await inChild<OperationTimes[]>('./growth/measure.ts', engine, { size });
  keepFigures(measured.map((each): Figure => ({ ...each, engine, size })));
}

function draw(all: readonly Figure[]): void {
  const folder = new URL('../../docs/benchmarks/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const area of AREAS)
    writeFileSync(
      new URL(`growth-${area}.svg`, folder),
      chartOf(
        TITLES[area],
        all.filter((each) => each.area === area),
      ),
    );
}

/** `node bench/report.ts`: writes docs/benchmarks.md from bench/results.json, as every saved run does. */
import { writeFileSync } from 'node:fs';
import { AREAS } from './areas.ts';
import { readFigures } from './growth/figures.ts';
import { sectionOf } from './growth/section.ts';
import { type Results, type Row, readResults } from './results.ts';
import { cellsOf } from './table.ts';

const FILE = new URL('../docs/benchmarks.md', import.meta.url);

const INTRODUCTION = `\`npm run bench\` generates this page from [bench/results.json](../bench/results.json), so do not edit it. To run only some of the areas, name them:
\`npm run bench -- pipe events\`.

How to read the tables:

- **Compare the ratios.** The absolute figures depend on this machine, on which the load generator and the servers share the processors.
- Every figure has a baseline from the same run. Covenant and the baseline are measured in turns, call by call or round by round, so that other load on the
  machine affects both. The tables show medians. Stores of different sizes are filled and measured one after another.
- The ratio is our figure divided by the baseline. For milliseconds and megabytes, a lower ratio is better. For rates and for shares of found items, a higher
  ratio is better.
- Covenant answers a call only after the data is synced to disk. PostgreSQL runs with fsync on.
- Other products are installed from npm, in the version that the table shows, each into its own folder. To use a folder in which they are already installed, set
  \`COVENANT_PEERS\`. If a product could not run, the table shows the reason.`;

const NOT_MEASURED = 'Not measured yet.';

/** Returns the whole document. `growth` is its last section, whose figures come from a separate run. */
export function documentOf({ machine, runs, rows }: Results, growth: string): string {
  const { cpu, cores, memoryGb, os, node, sqlite, postgres, syncMs } = machine;
  const parts = [
    '# Benchmarks',
    INTRODUCTION,
    `Machine: ${cpu}, ${cores} cores, ${memoryGb} GB; ${os}; Node ${node}, SQLite ${sqlite}, PostgreSQL ${postgres}. Its disk takes ${syncMs} ms (median) to sync 4 kB.`,
  ];
  for (const { name, title, method, notes } of AREAS) {
    const run = runs[name];
    const own = rows.filter(({ area }) => area === name);
    parts.push(`## ${title}`, method);
    if (!run) parts.push(NOT_MEASURED);
    if (run?.error) parts.push(`Stopped early: ${escaped(run.error)}`);
    if (own.length > 0) parts.push(tableIn(own));
    if (notes) parts.push(notes);
    if (run) parts.push(`\`npm run bench -- ${name}\`, ${run.at.slice(0, 10)}, ${run.seconds} s.`);
  }
  parts.push('## Growth', growth);
  return `${parts.join('\n\n')}\n`;
}

/** The section with the results of `npm run bench:growth`. */
export function growthSection(): string {
  const figures = readFigures();
  return figures.length > 0 ? `${sectionOf(figures)}\n\n\`npm run bench:growth\`, then \`node bench/report.ts\`.` : NOT_MEASURED;
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');

function tableIn(rows: readonly Row[]): string {
  const timed = rows.some(({ p50 }) => p50 !== undefined);
  const cells = (row: Row) => {
    const [name, ours, latency, baseline, its, ratio] = cellsOf(row);
    return [row.note ? `${name} (${row.note})` : name, ours, ...(timed ? [latency] : []), baseline, its, ratio].map(escaped);
  };
  const heads = ['', 'ours', ...(timed ? ['p50 / p99 ms'] : []), 'baseline', 'its figure', 'ratio'];
  const line = (all: readonly string[]) => `| ${all.join(' | ')} |`;
  const rule = heads.map((head) => (head === '' || head === 'baseline' ? '---' : '---:'));
  return [line(heads), line(rule), ...rows.map((row) => line(cells(row)))].join('\n');
}

export function writeDocument(): void {
  const results = readResults();
  if (!results) throw new Error('bench/results.json does not exist: run npm run bench');
  writeFileSync(FILE, documentOf(results, growthSection()));
}

if (import.meta.main) writeDocument();

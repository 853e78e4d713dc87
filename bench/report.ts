/** `node bench/report.ts`: docs/benchmarks.md from bench/results.json, as every run does that is kept. */
import { writeFileSync } from 'node:fs';
import { AREAS } from './areas.ts';
import { readFigures } from './growth/figures.ts';
import { sectionOf } from './growth/section.ts';
import { type Results, type Row, readResults } from './results.ts';
import { cellsOf } from './table.ts';

const FILE = new URL('../docs/benchmarks.md', import.meta.url);

const INTRODUCTION = `Made by \`npm run bench\` from [bench/results.json](../bench/results.json); do not edit. \`npm run bench -- pipe events\` runs some of it.

Every figure stands beside a baseline that was measured in the same run, in turns with it, call by call or round by round, so that what
else the machine does hits both alike; the median is shown. Stores of different sizes are filled and measured one after another. The ratio
is ours divided by the baseline: of milliseconds and megabytes less is better, of anything per second, and of what is found, more. Read
the ratios: the figures are this machine's, on which load and servers share the processors. What Covenant answers is on disk, synced, before it
is answered, and PostgreSQL runs with its fsync on. Other programs are installed from npm in the version that is named, into a folder of
their own (\`COVENANT_PEERS\` names another); one that could not run is named with the reason.`;

const NOT_MEASURED = 'Not measured yet.';

/** The whole document; `growth` is its last section, which has a run of its own. */
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
    if (run?.error) parts.push(`Broke off: ${escaped(run.error)}`);
    if (own.length > 0) parts.push(tableIn(own));
    if (notes) parts.push(notes);
    if (run) parts.push(`\`npm run bench -- ${name}\`, ${run.at.slice(0, 10)}, ${run.seconds} s.`);
  }
  parts.push('## Growth', growth);
  return `${parts.join('\n\n')}\n`;
}

/** Of what `npm run bench:growth` has measured. */
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
  const heads = ['', 'ours', ...(timed ? ['p50 / p99 ms'] : []), 'beside', 'its figure', 'ratio'];
  const line = (all: readonly string[]) => `| ${all.join(' | ')} |`;
  const rule = heads.map((head) => (head === '' || head === 'beside' ? '---' : '---:'));
  return [line(heads), line(rule), ...rows.map((row) => line(cells(row)))].join('\n');
}

export function writeDocument(): void {
  const results = readResults();
  if (!results) throw new Error('there is no bench/results.json: npm run bench');
  writeFileSync(FILE, documentOf(results, growthSection()));
}

if (import.meta.main) writeDocument();

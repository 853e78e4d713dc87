/** `npm run budgets`: checks the transfer size of the built dashboard, and fails if a part exceeds its budget. `npm test` also runs this check. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

const web = fileURLToPath(new URL('../dist/web', import.meta.url));
const manifest = JSON.parse(readFileSync(join(web, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;

/** The shell, which loads before the first page, and the parts that pages load on demand. `most` is in kilobytes, gzipped. */
const BUDGETS: { name: string; entry: string; page?: string; most: number }[] = [
  { name: 'shell', entry: 'index.html', most: 200 },
  { name: 'graph', entry: 'pages/workflows/graph-canvas.tsx', page: 'pages/workflows/graph.tsx', most: 80 },
  { name: 'terminal', entry: 'pages/reviews/terminal-screen.tsx', page: 'pages/reviews/terminal.tsx', most: 95 },
  { name: 'charts', entry: 'parts/plot.tsx', most: 30 },
];

/** Returns an entry's own file and all files that load together with it. */
function filesOf(key: string, seen = new Set<string>()): Set<string> {
  const chunk = manifest[key];
  if (!chunk) throw new Error(`${key} is no longer a separate chunk. Update the list in scripts/budgets.ts.`);
  if (seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  for (const style of chunk.css ?? []) seen.add(style);
  for (const imported of chunk.imports ?? []) filesOf(imported, seen);
  return seen;
}

let isOver = false;
for (const { name, entry, page, most } of BUDGETS) {
  // Files that the browser has already loaded do not count.
  const before = new Set([...(name === 'shell' ? [] : filesOf('index.html')), ...(page ? filesOf(page) : [])]);
  const own = [...filesOf(entry)].filter((file) => !before.has(file));
  const size = own.reduce((sum, file) => sum + statSync(join(web, `${file}.gz`)).size, 0) / 1000;
  isOver ||= size > most;
  process.stdout.write(`${size > most ? 'OVER' : 'ok  '} ${name.padEnd(8)} ${size.toFixed(1).padStart(6)} of ${most} kB\n`);
}
process.exitCode = isOver ? 1 : 0;

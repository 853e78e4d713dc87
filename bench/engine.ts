import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../src/testing/postgres.ts';

export const ENGINES = ['SQLite', 'PostgreSQL (its fsync off)'] as const;

/** Runs one measurement in a process of its own, on an empty store of the engine. */
export async function inChild<Figures>(child: string, engine: (typeof ENGINES)[number], wanted: object): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  const postgres = engine === 'SQLite' ? undefined : await startPostgres();
  try {
    const place = { path: join(folder, 'covenant.db'), ...(postgres ? { url: `${postgres.url}/postgres` } : {}) };
    const script = new URL(child, import.meta.url).pathname;
    const output = execFileSync(process.execPath, [script, JSON.stringify({ ...wanted, ...place })], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return JSON.parse(output) as Figures;
  } finally {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

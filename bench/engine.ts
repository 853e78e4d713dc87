import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Place } from './app.ts';
import { startPostgres } from './postgres.ts';

export const ENGINES = ['SQLite', 'PostgreSQL'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Two empty stores of one engine: one for the product, one for the baseline. */
export interface Places {
  readonly ours: Place;
  readonly plain: Place;
}

/** Runs one measurement in its own process, on empty stores of the engine. */
export async function inChild<Figures>(child: string, engine: EngineName, wanted: object): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  const postgres = engine === 'SQLite' ? undefined : await startPostgres();
  const place = async (name: string): Promise<Place> => ({ path: join(folder, `${name}.db`), ...(postgres && { url: await postgres.database(name) }) });
  try {
    const places: Places = { ours: await place('ours'), plain: await place('plain') };
    const script = new URL(child, import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify({ ...wanted, ...places })]);
    return JSON.parse(stdout) as Figures;
  } catch (error) {
    throw error instanceof Error && 'stderr' in error ? new Error(`${child} on ${engine}: ${reasonIn(String(error.stderr))}`, { cause: error }) : error;
  } finally {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The error line in Node's output for an uncaught exception. */
const reasonIn = (stderr: string): string => stderr.split('\n').find((line) => /^\w*Error\b|^error:/.test(line)) ?? stderr.slice(-300);

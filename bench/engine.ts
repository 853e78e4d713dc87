import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Place } from './app.ts';
import { startPostgres } from './postgres.ts';

export const ENGINES = ['SQLite', 'PostgreSQL'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Two empty stores of one engine: the product's, and one for what is done without it. */
export interface Places {
  readonly ours: Place;
  readonly plain: Place;
}

/** Runs one measurement in a process of its own, on empty stores of the engine. */
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

/** The line that says what went wrong, of what Node prints when a program ends with it. */
const reasonIn = (stderr: string): string => stderr.split('\n').find((line) => /^\w*Error\b|^error:/.test(line)) ?? stderr.slice(-300);

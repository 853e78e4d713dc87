import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from './postgres.ts';
import { quantile } from './turns.ts';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly os: string;
  readonly node: string;
  readonly sqlite: string;
  readonly postgres: string;
  /** Median time to sync 4 kB to disk. A call that must survive a power failure takes at least this long. */
  readonly syncMs: number;
}

export async function describeMachine(): Promise<Machine> {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    os: `${type()} ${release()}`,
    node: process.version,
    sqlite: process.versions.sqlite ?? 'unknown',
    postgres: await postgresVersion(),
    syncMs: syncMs(),
  };
}

async function postgresVersion(): Promise<string> {
  const server = await startPostgres();
  try {
    const client = new pg.Client({ connectionString: `${server.url}/postgres` });
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    await client.end();
    return rows[0]?.server_version ?? 'unknown';
  } finally {
    await server.stop();
  }
}

function syncMs(): number {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-bench-'));
  const file = openSync(join(folder, 'synced'), 'w');
  const page = Buffer.alloc(4_096, 1);
  const times = Array.from({ length: 200 }, () => {
    const begun = performance.now();
    writeSync(file, page);
    fsyncSync(file);
    return performance.now() - begun;
  });
  closeSync(file);
  rmSync(folder, { recursive: true, force: true });
  return quantile(times, 0.5);
}

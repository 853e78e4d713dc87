import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * Makes a consistent, compact copy of a database that may be in use. `VACUUM INTO` is synchronous and can take seconds, so it runs in a worker thread. When
 * the promise resolves, the copy is complete and synced to disk.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  // Creates an empty file with private permissions first. VACUUM INTO writes into an empty file, but if there is none, it creates one with default permissions.
  writeFileSync(to, '', { flag: 'wx', mode: 0o600 });
  const worker = new Worker(COPY, { eval: true, workerData: { from, to } });
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the copy failed with code ${code}`))));
  }).catch((error) => {
    rmSync(to, { force: true });
    throw error;
  });
}

/** The worker is plain JavaScript in a string, so that it starts in the same way from the sources and from the build. */
const COPY = `
const { workerData } = require('node:worker_threads');
const { DatabaseSync } = require('node:sqlite');
const { openSync, fsyncSync, closeSync } = require('node:fs');
const db = new DatabaseSync(workerData.from, { timeout: 10000 });
db.prepare('vacuum into ?').run(workerData.to);
db.close();
const file = openSync(workerData.to, 'r+');
fsyncSync(file);
closeSync(file);
`;

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * `VACUUM INTO` makes a consistent, compact copy of a live database. It is synchronous and can take seconds, so it runs in a worker thread. The copy
 * is complete and synced when the promise resolves.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  // Created empty and private first: VACUUM INTO accepts an empty file, but would create its own with default permissions.
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

/** Plain JavaScript in a string, so that the worker starts the same way from sources and from the build. */
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

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';

/**
 * `VACUUM INTO` makes a consistent, compact copy of a live database. It is synchronous and can take seconds, so it runs
 * on a thread of its own; the copy is complete and synced before the promise resolves.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  // Made empty and private first: VACUUM INTO takes an empty file, and would make its own readable by others.
  writeFileSync(to, '', { flag: 'wx', mode: 0o600 });
  const worker = new Worker(COPY, { eval: true, workerData: { from, to } });
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the copy ended with code ${code}`))));
  }).catch((error) => {
    rmSync(to, { force: true });
    throw error;
  });
}

/** Plain JavaScript in a string: a worker is started alike from sources and from the build. */
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

/**
 * A server of its own on a store that others have open too. Reads a call a line, answers it in a line. A call may name the step before which
 * the process ends itself as if the power were cut: a step is a commit of the store, or anything that changes a file or folder.
 */
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { createLog } from '../../kernel/log.ts';
import { createApp } from '../../main.ts';
import { testConfig } from '../config.ts';

interface Request {
  readonly name: string;
  readonly args: unknown;
  /** The step that is never taken; without it, all are. */
  readonly dieBefore?: number;
}

let steps = 0;
let dieBefore = Number.POSITIVE_INFINITY;
const die = () => process.kill(process.pid, 'SIGKILL');
const step = () => {
  if (++steps >= dieBefore) die();
};

const { open, mkdir, rename, rm } = fs;
const stepped =
  <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
  async (...args: A): Promise<R> => {
    step();
    return await work(...args);
  };
Object.assign(fs, {
  mkdir: stepped(mkdir as (...args: unknown[]) => Promise<unknown>),
  rename: stepped(rename),
  rm: stepped(rm),
  open: async (...args: Parameters<typeof open>) => {
    if (String(args[1]).includes('w')) step();
    const file = await open(...args);
    const { writeFile, sync } = file;
    file.writeFile = async (text, ...more) => {
      if (++steps >= dieBefore) {
        await writeFile.call(file, String(text).slice(0, String(text).length / 2));
        die();
      }
      await writeFile.call(file, text, ...more);
    };
    file.sync = stepped(sync.bind(file));
    return file;
  },
});
syncBuiltinESMExports();

const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (text) {
  if (text === 'commit') step();
  exec.call(this, text);
};
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  if (args[0] === 'commit') step();
  return (query as (...all: unknown[]) => unknown).apply(this, args);
} as typeof query;

const { home, path, url, token, now } = JSON.parse(process.argv[2] ?? '') as Record<'home' | 'path' | 'url' | 'token', string> & { now: number };
const app = await createApp({
  config: testConfig({ home, path, url }, { log_level: 'error' }),
  clock: { now: () => now, every: () => () => {}, after: () => () => {} },
  log: createLog('error', (line) => process.stderr.write(`${line}\n`)),
  sweep: false,
});
const authenticated = await app.authenticate(token, 'bearer');
if (!('principal' in authenticated)) throw new Error('token refused');
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  steps = 0;
  dieBefore = request.dieBefore ?? Number.POSITIVE_INFINITY;
  const { body } = await app.dispatch.tool({ name: request.name, args: request.args, principal: authenticated.principal, surface: 'api' });
  // The process may also end when all is done and before anybody hears of it.
  step();
  console.log(JSON.stringify({ body, steps }));
}
await app.close();

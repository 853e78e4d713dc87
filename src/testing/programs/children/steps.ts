/**
 * If a process imports this file, it counts the steps that affect the outside world, and kills itself before the chosen step, as in a power failure. A step
 * is a database commit, a change to a file or folder, or the start of a program.
 */
import children from 'node:child_process';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

let taken = 0;
let dieBefore = Number.POSITIVE_INFINITY;

/** Starts counting from zero. The process will kill itself before step `last`. */
export function armed(last: number | undefined): void {
  taken = 0;
  dieBefore = last ?? Number.POSITIVE_INFINITY;
}
export const steps = (): number => taken;

const isLast = (): boolean => ++taken >= dieBefore;
const die = () => process.kill(process.pid, 'SIGKILL');
export const step = (): void => {
  if (isLast()) die();
};

const stepped =
  <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
  async (...args: A): Promise<R> => {
    step();
    return await work(...args);
  };

const { open, mkdir, rename, rm, link, copyFile } = fs;
Object.assign(fs, {
  mkdir: stepped(mkdir as (...args: unknown[]) => Promise<unknown>),
  rename: stepped(rename),
  rm: stepped(rm),
  link: stepped(link),
  copyFile: stepped(copyFile),
  open: async (...args: Parameters<typeof open>) => {
    if (String(args[1]).includes('w')) step();
    const file = await open(...args);
    const { writeFile, sync } = file;
    file.writeFile = async (text, ...more) => {
      if (isLast()) {
        await writeFile.call(file, String(text).slice(0, String(text).length / 2));
        die();
      }
      await writeFile.call(file, text, ...more);
    };
    file.sync = stepped(sync.bind(file));
    return file;
  },
});
const { spawn } = children;
children.spawn = ((...args: Parameters<typeof spawn>) => {
  step();
  const child = spawn(...args);
  // The program that was started continues even if this process dies here.
  step();
  return child;
}) as typeof spawn;
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

import { randomUUID } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { childProgram, processesWith } from '../../src/testing/programs/processes.ts';
import { type RunningProgram, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

/** How long processes may still run after their server has died. */
const GONE_MS = 5_000;
/** The number of processes: `ignores-sigterm`, its three children, and `plain`. */
const FAMILY = 5;

interface Started {
  program: RunningProgram;
  /** Returns the pids of all processes of the external servers. */
  children(): number[];
  /** A text that is in the environment of all these processes, and in the command line of the reaper. */
  mark: string;
  reaper(): number[];
  /** Returns the size of the database's write-ahead log in bytes. */
  wal(): number;
}

/** Starts `covenant up` with two external servers. One of them ends only if it is killed. */
async function start(): Promise<Started> {
  const home = temporaryFolder();
  const test = randomUUID();
  const entry = (name: string) =>
    `[[mcp.server]]\nname = "${name}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(childProgram(name))}]\nenv = { CHILD_TEST = "${test}" }\n`;
  writeFileSync(join(home, 'secrets.toml'), `${entry('ignores-sigterm')}\n${entry('plain')}`, { mode: 0o600 });
  const program = await startProgram({ home });
  const wal = () => statSync(join(home, 'covenant.db-wal'), { throwIfNoEntry: false })?.size ?? 0;
  const children = () => processesWith(test);
  await expect.poll(() => children().length, { timeout: 30_000, interval: 100 }).toBe(FAMILY);
  const environment = readFileSync(`/proc/${children()[0]}/environ`, 'utf8');
  const mark = /(?:^|\0)COVENANT_CHILD_OF=([0-9a-f-]{36})/.exec(environment)?.[1] as string;
  const reaper = () => processesWith(mark).filter((pid) => !children().includes(pid));
  expect(reaper().length).toBe(1);
  return { program, children, mark, reaper, wal };
}

const nothingIsLeft = (mark: string) => expect.poll(() => processesWith(mark), { timeout: GONE_MS, interval: 100 }).toEqual([]);

test('a stop closes the store and ends every process while an external server ignores SIGTERM [use.stop.closes-store]', async () => {
  const { program, mark, wal } = await start();
  expect(wal()).toBeGreaterThan(0);
  expect(await program.stop('SIGTERM')).toBe(0);
  expect(wal()).toBe(0);
  await nothingIsLeft(mark);
});

test('a stop closes the store if a second signal follows at once, from the parent process or a closed terminal [use.stop.closes-store]', async () => {
  const { program, mark, wal } = await start();
  expect(wal()).toBeGreaterThan(0);
  program.child.kill('SIGTERM');
  program.child.kill('SIGTERM');
  expect(await program.stop('SIGHUP')).toBe(0);
  expect(wal()).toBe(0);
  await nothingIsLeft(mark);
});

test('kill -9 of the server ends every process of its external servers [gateway.process.dies-with-server]', async () => {
  const { program, mark } = await start();
  await program.stop('SIGKILL');
  await nothingIsLeft(mark);
});

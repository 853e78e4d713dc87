import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive, processesWith } from '../../testing/programs/processes.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { until } from '../../testing/until.ts';
import { FolderMissing, ProgramMissing } from '../process/process.ts';
import { boundLog, createProcesses, startTimeByPs } from './agent-process.ts';
import { type AgentSessions, SESSION_VARIABLE } from './agent-session.ts';

const base = { PATH: process.env.PATH ?? '' };
const IDLE = 'setInterval(() => {}, 1000)';

function place(...options: Parameters<typeof createProcesses> extends [string, ...infer More] ? More : never) {
  const folder = temporaryFolder();
  const logs = join(folder, 'logs');
  const sessions = createProcesses(logs, ...options);
  return { folder, logs, sessions, start: (name: string, code: string, more = {}) => started(sessions, folder, name, code, more) };
}

async function started(sessions: AgentSessions, cwd: string, name: string, code: string, more: Record<string, unknown> = {}) {
  const handle = await sessions.start({ name, cwd, file: process.execPath, args: ['-e', code], env: base, ...more });
  onTestFinished(() => sessions.end(handle));
  return handle;
}

const shows = (sessions: AgentSessions, handle: { name: string; pid: number; started: number }, text: string) =>
  until(async () => expect(await sessions.screen(handle)).toContain(text));

test('a plain process reads its input, writes a private log, has no terminal, and is reported as gone after it was ended [review.run.no-tmux]', async () => {
  const { logs, sessions, start } = place();
  const handle = await start('one', `process.stdin.on('data', (text) => console.error('got ' + text)); process.stdin.on('end', () => ${IDLE})`, {
    input: 'the prompt; $(id)',
  });
  await shows(sessions, handle, 'got the prompt; $(id)');
  expect(statSync(join(logs, 'one.log')).mode & 0o777).toBe(0o600);
  expect(await sessions.look(handle)).toEqual({ state: 'running' });
  expect(await sessions.type(handle, 'hello')).toBe(false);
  await sessions.end(handle);
  expect(await sessions.look(handle)).toEqual({ state: 'gone' });
  expect(await sessions.screen(handle)).toContain('got the prompt');
});

test('distinguishes a missing folder from a missing program', async () => {
  const { folder, sessions } = place();
  const wanted = { name: 'one', cwd: folder, file: 'no-such-program', args: [], env: base };
  await expect(sessions.start(wanted)).rejects.toThrow(ProgramMissing);
  await expect(sessions.start({ ...wanted, cwd: join(folder, 'nowhere') })).rejects.toThrow(FolderMissing);
});

test.each([
  ['by its environment', undefined],
  ['by its note, if the system hides environments', () => undefined],
])("finds an unrecorded session by its name, %s, and mistakes neither another home's session nor a child process for it", async (_how, leaders) => {
  const { folder, logs, sessions, start } = place(...(leaders ? [leaders] : []));
  const child = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(IDLE)}], { detached: true, stdio: 'ignore' }).unref()`;
  const handle = await start('work-1-a1', `${child}; console.log('ready'); ${IDLE}`);
  const longer = await start('work-1-a11', IDLE);
  await shows(sessions, handle, 'ready');
  const elsewhere = createProcesses(join(folder, 'other'), ...(leaders ? [leaders] : []));
  await started(elsewhere, folder, 'work-1-a1', IDLE);
  const later = createProcesses(logs, ...(leaders ? [leaders] : []));
  expect(await later.find('work-1-a1')).toEqual(handle);
  expect(await later.find('work-1')).toBeUndefined();
  expect((await later.names()).sort()).toEqual(['work-1-a1', 'work-1-a11']);
  await later.end(handle);
  expect(await later.names()).toEqual(['work-1-a11']);
  expect(await elsewhere.names()).toEqual(['work-1-a1']);
  expect(await later.look(longer)).toEqual({ state: 'running' });
});

test('neither inspects nor ends another process that reuses the pid of a session', async () => {
  const { sessions, start } = place();
  const handle = await start('one', IDLE);
  const before = { ...handle, name: 'earlier', started: handle.started - 1 };
  expect(await sessions.look(before)).toEqual({ state: 'gone' });
  await sessions.end(before);
  expect(isAlive(handle.pid)).toBe(true);
});

test('ending a session also ends its processes that ignore the request or have left the group', async () => {
  const { folder, sessions, start } = place();
  const stray = `process.on('SIGTERM', () => {}); require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'stray'))}, 'ready'); ${IDLE}`;
  const leaves = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(stray)}], { detached: true, stdio: 'ignore' }).unref()`;
  // Its parent has ended, so it can no longer be found through its parent.
  const between = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(leaves)}], { stdio: 'ignore' })`;
  const handle = await start('one', `process.on('SIGTERM', () => {}); ${between}; console.log('ready'); ${IDLE}`);
  await shows(sessions, handle, 'ready');
  await until(() => expect(existsSync(join(folder, 'stray'))).toBe(true));
  const mark = `${SESSION_VARIABLE}=one:${readFileSync(`/proc/${handle.pid}/environ`, 'latin1').split(`${SESSION_VARIABLE}=one:`)[1]?.split('\0')[0]}`;
  expect(processesWith(mark)).toHaveLength(2);
  await sessions.end(handle);
  expect(processesWith(mark)).toEqual([]);
});

test('shortens an endless log, keeps its end, and appends new output', async () => {
  const { logs, sessions, start } = place();
  const handle = await start('one', `process.on('SIGUSR2', () => console.log(' and more')); process.stdout.write('x'.repeat(300_000) + 'the end'); ${IDLE}`);
  await shows(sessions, handle, 'the end');
  await boundLog(logs, 'one', 1_000_000);
  expect(statSync(join(logs, 'one.log')).size).toBe(300_007);
  await boundLog(logs, 'one', 200_000);
  expect(readFileSync(join(logs, 'one.log'), 'utf8')).toMatch(/^\(earlier output removed[^\n]*300007 bytes\)\nx{65529}the end$/);
  process.kill(handle.pid, 'SIGUSR2');
  await shows(sessions, handle, 'the end and more');
  await boundLog(logs, 'never', 0);
  expect(existsSync(join(logs, 'never.log'))).toBe(false);
});

test('an invalid note, or the note of a process that has ended, does not make a session appear', async () => {
  const { logs, sessions, start } = place(() => undefined);
  const handle = await start('one', IDLE);
  await sessions.end(handle);
  writeFileSync(join(logs, 'one.pid'), `${handle.pid} ${handle.started}\n`);
  writeFileSync(join(logs, 'two.pid'), 'nonsense');
  writeFileSync(join(logs, 'three.pid'), `${process.pid} 1\n`);
  expect(await sessions.names()).toEqual([]);
  expect(await startTimeByPs(process.pid)).toBeGreaterThan(1_600_000_000);
  expect(await startTimeByPs(handle.pid)).toBe(0);
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endTmux, isAlive, processesNaming } from '../../testing/programs/processes.ts';
import { temporaryFolder } from '../../testing/store/database.ts';
import { until } from '../../testing/until.ts';
import { createTmux, socketIn, type Tmux, tmuxVersion } from './tmux.ts';

const present = (await tmuxVersion()) !== null;
const base = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LANG: 'C.UTF-8' };
let folder: string;
let tmux: Tmux;
beforeEach(() => {
  folder = temporaryFolder();
  tmux = createTmux(socketIn(folder), base);
});
const started: { name: string; pid: number; started: number }[] = [];
afterEach(async () => {
  for (const handle of started.splice(0)) await tmux.end(handle);
  endTmux(folder);
});

const start = async (name: string, args: string[], env: Record<string, string> = {}, cwd = folder) => {
  const handle = await tmux.start({ name, cwd, file: process.execPath, args, env: { ...base, ...env } });
  started.push(handle);
  return handle;
};

test.runIf(present)("a session gets its exact environment and arguments without a shell, and no other session's secrets", async () => {
  const script = join(folder, 'say.mjs');
  writeFileSync(
    script,
    `import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2], JSON.stringify([process.env.SECRET ?? null, process.argv.slice(3), process.cwd()])); setInterval(() => {}, 1000);`,
  );
  const hostile = [
    '$(touch x)',
    '; rm -rf y',
    '`id`',
    'it\'s "quoted"',
    'two\nlines',
    '--option',
    '#{pane_pid}',
    'ends;',
    ';',
    'a\\\\;',
    '',
    '{',
    '%if 1',
    '~',
    '$HOME',
    '# no',
  ];
  // Longer than a tmux command may be.
  hostile.push("it's long ".repeat(10_000));
  const odd = join(folder, 'c#(touch x)#S #[é');
  mkdirSync(odd);
  await start('one', [script, join(folder, 'one.json'), ...hostile], { SECRET: 'of one' }, odd);
  await start('two', [script, join(folder, 'two.json')]);
  const said = (name: string) => until(() => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  expect(await said('one.json')).toEqual(['of one', hostile, odd]);
  expect(await said('two.json')).toEqual([null, [], folder]);
  expect(await tmux.names()).toEqual(['one', 'two']);
  expect(existsSync(join(folder, 'x'))).toBe(false);
  // In another folder the agent would work on someone else's files.
  await expect(start('three', [script], {}, join(folder, 'gone'))).rejects.toThrow('is not a folder');
  await expect(start('two', [script])).rejects.toThrow('duplicate session: two');
});

test.runIf(present)('an unreachable tmux server is an error, not a missing session', async () => {
  const handle = { name: 'one', pid: 1, started: 1 };
  expect([await tmux.look(handle), await tmux.find('one'), await tmux.names()]).toEqual([{ state: 'gone' }, undefined, []]);
  mkdirSync(join(folder, 'l'.repeat(200)));
  const unreachable = createTmux(join(folder, 'l'.repeat(200), 't.sock'), base);
  const asks = [() => unreachable.look(handle), () => unreachable.find('one'), () => unreachable.screen(handle), () => unreachable.names()];
  for (const ask of asks) await expect(ask()).rejects.toThrow('File name too long');
});

test.runIf(present)('typed text reaches the program as one line, the screen shows it, and the exit code of the program is reported', async () => {
  const handle = await start('echo', ['-e', `process.stdin.once('data', (line) => { console.log('got', JSON.stringify(String(line))); process.exit(3); })`]);
  expect(await tmux.look(handle)).toEqual({ state: 'running' });
  await tmux.type(handle, 'hello $(id)\nthere');
  await until(async () => expect(await tmux.look(handle)).toEqual({ state: 'ended', code: 3 }));
  expect(await tmux.screen(handle)).toContain('got "hello $(id) there\\n"');
  await tmux.end(handle);
  expect(await tmux.look(handle)).toEqual({ state: 'gone' });
});

test.runIf(present)('ending a session ends a program that ignores SIGHUP, and a new session with the same name is not mistaken for the old one', async () => {
  const stubborn = await start('stubborn', [
    '-e',
    `for (const s of ['SIGHUP', 'SIGTERM']) process.on(s, () => {}); setInterval(() => {}, 1000); console.log('ready')`,
  ]);
  await until(async () => expect(await tmux.screen(stubborn)).toContain('ready'));
  await tmux.end(stubborn);
  expect(isAlive(stubborn.pid)).toBe(false);
  const again = await start('stubborn', ['-e', 'setInterval(() => {}, 1000)']);
  expect(await tmux.look(stubborn)).toEqual({ state: 'gone' });
  expect(await tmux.look(again)).toEqual({ state: 'running' });
});

const IDLE = ['-e', 'setInterval(() => {}, 1000)'];

test.runIf(present)("the tmux server ends with its last session, even if that session's program has ended", async () => {
  const [one, two] = [await start('one', IDLE), await start('two', ['-e', ''])];
  const server = Number(execFileSync('tmux', ['-S', socketIn(folder), 'display-message', '-p', '#{pid}'], { encoding: 'utf8' }));
  await tmux.end(one);
  await until(async () => expect(await tmux.look(two)).toEqual({ state: 'ended', code: 0 }));
  expect(isAlive(server)).toBe(true);
  await tmux.end(two);
  await expect.poll(() => isAlive(server), { interval: 20 }).toBe(false);
});

test.runIf(present)('a failed start leaves no tmux server', async () => {
  await expect(start('no.name', IDLE)).rejects.toThrow('is not a valid session name');
  await expect(start('one', IDLE, {}, join(folder, 'gone'))).rejects.toThrow('is not a folder');
  await expect.poll(() => processesNaming(folder), { interval: 20 }).toEqual([]);
});

/** The real tmux behind a script that records each command. If the file `ending` exists, the script deletes it and answers like a server that is ending. */
function observed() {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const [noted, ending] = [join(folder, 'commands'), join(folder, 'ending')];
  const real = execFileSync('which', ['tmux'], { encoding: 'utf8' }).trim();
  const script = [
    '#!/bin/sh',
    `echo "$*" >> '${noted}'`,
    `if rm '${ending}' 2>/dev/null; then echo 'server exited unexpectedly' >&2; exit 1; fi`,
    `exec '${real}' "$@"`,
  ];
  writeFileSync(join(bin, 'tmux'), script.join('\n'), { mode: 0o755 });
  const env = { ...base, PATH: `${bin}:${base.PATH}` };
  tmux = createTmux(socketIn(folder), env);
  const commands = () => [...readFileSync(noted, 'utf8').matchAll(/ (start-server|source-file|kill-session) /g)].map(([, name]) => name);
  return { env, commands, isEnding: () => writeFileSync(ending, '') };
}

test.runIf(present)('while a session is being started, no other session is started or ended', async () => {
  const { env, commands } = observed();
  const [one, two] = await Promise.all([start('one', IDLE, env), start('two', IDLE, env)]);
  const [three] = await Promise.all([start('three', IDLE, env), tmux.end(one), tmux.end(two)]);
  await tmux.end(three);
  expect(commands().join(' ')).toMatch(/^(start-server source-file |kill-session )+kill-session$/);
});

test.runIf(present)('retries a command that arrives while the tmux server ends', async () => {
  let last = await start('session-0', IDLE);
  for (let number = 1; number <= 10; number++) [, last] = await Promise.all([tmux.end(last), start(`session-${number}`, IDLE)]);
  const { isEnding } = observed();
  isEnding();
  expect(await tmux.look(last)).toEqual({ state: 'running' });
  isEnding();
  expect(await tmux.look(await start('another', IDLE))).toEqual({ state: 'running' });
});

test.runIf(present)('many keys arrive unchanged, and the view shows the size, the cursor and whether the program has ended', async () => {
  const script = `
    process.stdin.setRawMode(true);
    let got = '';
    process.stdin.on('data', (data) => {
      got += data;
      if (!got.endsWith('!')) return;
      require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'got'))}, got);
      process.exit();
    });
    console.log('ready');`;
  const handle = await start('keys', ['-e', script]);
  await until(async () => expect((await tmux.view('keys'))?.text).toMatch(/^ready\n/));
  expect(await tmux.view('keys')).toMatchObject({ columns: 200, rows: 50, cursor: { column: 0, row: 1 }, pid: handle.pid, ended: false });
  await tmux.resize('keys', { columns: 90, rows: 30 });
  expect(await tmux.view('keys')).toMatchObject({ columns: 90, rows: 30 });
  const sent = ['ends;', ';', 'Enter', '\u0003\r\u001b[A', 'é€😀', '-x', 'x'.repeat(5_000), '!'];
  for (const text of sent) await tmux.send('keys', text);
  await until(async () => expect(await tmux.view('keys')).toMatchObject({ ended: true }));
  expect(readFileSync(join(folder, 'got'), 'utf8')).toBe(sent.join(''));
  expect(await tmux.view('nobody')).toBeNull();
});

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/store/database.ts';
import { until } from '../../testing/until.ts';
import { answers } from '../process/group.ts';
import { createTmux, type Tmux, tmuxVersion } from './tmux.ts';

const present = (await tmuxVersion()) !== null;
const base = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LANG: 'C.UTF-8' };
let folder: string;
let tmux: Tmux;
beforeEach(() => {
  folder = temporaryFolder();
  tmux = createTmux(join(folder, 't.sock'), base);
});
const started: { name: string; pid: number; started: number }[] = [];
afterEach(async () => {
  for (const handle of started.splice(0)) await tmux.end(handle);
  const { execFileSync } = await import('node:child_process');
  if (existsSync(join(folder, 't.sock'))) execFileSync('tmux', ['-S', join(folder, 't.sock'), 'kill-server'], { stdio: 'ignore' });
});

const start = async (name: string, args: string[], env: Record<string, string> = {}, cwd = folder) => {
  const handle = await tmux.start({ name, cwd, file: process.execPath, args, env: { ...base, ...env } });
  started.push(handle);
  return handle;
};

test.runIf(present)('a session gets its environment and arguments as they are, no shell reads them, and no other session has its secrets', async () => {
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
  // More than a command of tmux may hold.
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
  // Elsewhere it would work on what is not its own.
  await expect(start('three', [script], {}, join(folder, 'gone'))).rejects.toThrow('is no folder');
  await expect(start('two', [script])).rejects.toThrow('duplicate session: two');
});

test.runIf(present)('a tmux that cannot be asked says nothing about a session', async () => {
  const handle = { name: 'one', pid: 1, started: 1 };
  expect([await tmux.look(handle), await tmux.find('one'), await tmux.names()]).toEqual([{ state: 'gone' }, undefined, []]);
  mkdirSync(join(folder, 'l'.repeat(200)));
  const unreachable = createTmux(join(folder, 'l'.repeat(200), 't.sock'), base);
  const asks = [() => unreachable.look(handle), () => unreachable.find('one'), () => unreachable.screen(handle), () => unreachable.names()];
  for (const ask of asks) await expect(ask()).rejects.toThrow('File name too long');
});

test.runIf(present)('what is typed arrives as one line, the screen shows it, and an end is told with its code', async () => {
  const handle = await start('echo', ['-e', `process.stdin.once('data', (line) => { console.log('got', JSON.stringify(String(line))); process.exit(3); })`]);
  expect(await tmux.look(handle)).toEqual({ state: 'running' });
  await tmux.type(handle, 'hello $(id)\nthere');
  await until(async () => expect(await tmux.look(handle)).toEqual({ state: 'ended', code: 3 }));
  expect(await tmux.screen(handle)).toContain('got "hello $(id) there\\n"');
  await tmux.end(handle);
  expect(await tmux.look(handle)).toEqual({ state: 'gone' });
});

test.runIf(present)('an end reaches what ignores hanging up, and a session of the same name is another', async () => {
  const stubborn = await start('stubborn', [
    '-e',
    `for (const s of ['SIGHUP', 'SIGTERM']) process.on(s, () => {}); setInterval(() => {}, 1000); console.log('ready')`,
  ]);
  await until(async () => expect(await tmux.screen(stubborn)).toContain('ready'));
  await tmux.end(stubborn);
  expect(answers(-stubborn.pid)).toBe(false);
  const again = await start('stubborn', ['-e', 'setInterval(() => {}, 1000)']);
  expect(await tmux.look(stubborn)).toEqual({ state: 'gone' });
  expect(await tmux.look(again)).toEqual({ state: 'running' });
});

test.runIf(present)('keys arrive as they are, whatever their number and their end, and the view tells size, cursor and end', async () => {
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

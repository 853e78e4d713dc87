import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type SetupMachine, setupMachine } from '../../testing/programs/setup-machine.ts';
import { applySetup, inspectSetup, planSetup } from './files.ts';

test.each<[string, (m: SetupMachine) => unknown, RegExp]>([
  [
    'does not parse',
    (m) => m.write('app/.gemini/settings.json', '{\n  "a": 1,\n  oops\n}'),
    /^\.gemini\/settings\.json, line 3, column 3: it is not valid JSON/,
  ],
  ['is a folder', (m) => mkdirSync(join(m.root, '.mcp.json')), /^\.mcp\.json cannot be read \(EISDIR\)/],
  ['has a file in place of its folder', (m) => m.write('app/.codex', ''), /^\.codex\/hooks\.json cannot be read \(ENOTDIR\)/],
  [
    'is no text',
    (m) => writeFileSync(join(m.root, 'opencode.json'), Buffer.from([0x7b, 0xff, 0x7d])),
    /^opencode\.json cannot be read \(it is not UTF-8 text\)/,
  ],
  ['is a link to itself', (m) => symlinkSync('.mcp.json', join(m.root, '.mcp.json')), /^\.mcp\.json cannot be read \(ELOOP\)/],
])('writes nothing if one file %s, and doctor reports that file as broken', (_, make, message) => {
  const m = setupMachine();
  make(m);
  const before = m.tree();
  expect(() => planSetup(m.planOf())).toThrow(
    expect.objectContaining({ message: expect.stringMatching(message), next: expect.stringMatching(/move (it|the file) away/) }),
  );
  expect(m.tree()).toEqual(before);
  expect(existsSync(join(m.home, '.covibe'))).toBe(false);
  expect(inspectSetup(m.planOf()).filter(({ state }) => state === 'broken')).toEqual([expect.objectContaining({ what: expect.stringMatching(message) })]);
});

test('refuses two agents whose files are the same file, through any link', () => {
  const m = setupMachine({ clients: ['claude-code', 'cursor', 'gemini'] });
  const isRefused = (message: string) =>
    expect(() => m.setup()).toThrow(expect.objectContaining({ code: 'ONE_FILE', message: expect.stringContaining(message) }));
  mkdirSync(join(m.root, '.claude'));
  symlinkSync('.claude', join(m.root, '.gemini'));
  isRefused('.claude/settings.json and .gemini/settings.json are the same file, but claude-code and gemini need');
  mkdirSync(join(m.root, '.cursor'));
  symlinkSync('../.mcp.json', join(m.root, '.cursor/mcp.json'));
  isRefused('.mcp.json and .cursor/mcp.json are the same file');
});

test('cleans up temporary files of a killed run at the next setup or removal, but not those of a running one', () => {
  const m = setupMachine({ clients: ['claude-code'] });
  const dead = spawnSync(process.execPath, ['-e', '']).pid;
  const left = (pid: number) => m.write(`app/.claude/settings.json.${pid}.tmp`, '{}');
  const [ofDead, ofLiving] = [left(dead), left(process.ppid)];
  m.setup();
  expect([existsSync(ofDead), existsSync(ofLiving)]).toEqual([false, true]);
  rmSync(ofLiving);
  // The run was killed after it wrote the record and before it wrote the file.
  rmSync(join(m.root, '.claude/settings.json'));
  left(dead);
  m.remove();
  expect(readdirSync(m.root, { recursive: true })).toEqual(['.claude']);
});

test('a file that does not fit on the disk leaves no partial or temporary file', () => {
  const m = setupMachine();
  const path = m.write('home/file', 'before');
  const home = new URL('../../wire/covibe-home.ts', import.meta.url).href;
  const script = `const { replaceFile } = await import('${home}'); replaceFile(process.argv[1], 'x'.repeat(100_000))`;
  const limited = ['-c', 'ulimit -f 8; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', script, path];
  expect(spawnSync('sh', limited, { encoding: 'utf8' }).stderr).toContain('EFBIG');
  expect([readdirSync(m.home), m.read('home/file')]).toEqual([['file'], 'before']);
});

test('a change between planning and writing is not overwritten, and nothing else is written', () => {
  const m = setupMachine();
  const planned = planSetup(m.planOf());
  m.write('app/.mcp.json', '{ "mine": 1 }');
  const before = m.tree();
  expect(() => applySetup(planned)).toThrow(expect.objectContaining({ code: 'CHANGED_MEANWHILE' }));
  expect(m.tree()).toEqual(before);
});

test('reports a file that cannot be written before it writes anything', () => {
  const m = setupMachine();
  const planned = planSetup(m.planOf());
  m.write('app/.opencode', '');
  const before = m.tree();
  expect(() => applySetup(planned)).toThrow(/^\.opencode\/plugins\/covibe\.js cannot be written \(\w+\)\. Nothing was changed\.$/);
  expect(m.tree()).toEqual(before);
});

test('reports a file in place of the inbox before anything is written', () => {
  const m = setupMachine();
  m.write('app/.covibe/telemetry', '');
  const before = m.tree();
  expect(() => m.setup()).toThrow(/^\.covibe\/telemetry cannot be written \(ENOTDIR\)\. Nothing was changed\.$/);
  expect(m.tree()).toEqual(before);
});

// Skipped for root, who may write everywhere.
test.runIf(process.getuid?.() !== 0)('reports a read-only folder before anything is written, even if its file is writable', () => {
  const m = setupMachine();
  m.write('app/.claude/settings.json', '{}');
  chmodSync(join(m.root, '.claude'), 0o555);
  expect(() => planSetup(m.planOf())).toThrow(/^\.claude\/settings\.json cannot be written \(EACCES\)/);
  chmodSync(join(m.root, '.claude'), 0o755);
});

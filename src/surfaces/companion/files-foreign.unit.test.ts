import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type SetupMachine, setupMachine } from '../../testing/programs/setup-machine.ts';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { inspectSetup } from './files.ts';

const PLUGIN = '.opencode/plugins/covibe.js';

function link(m: SetupMachine, file: string, to: string): void {
  mkdirSync(dirname(join(m.root, file)), { recursive: true });
  symlinkSync(to, join(m.root, file));
}

const states = (m: SetupMachine) => inspectSetup(m.planOf()).flatMap(({ shown, state }) => (shown === PLUGIN ? [state] : []));

test('replaces an older plugin that setup wrote, but no plugin of the same name that someone else wrote', () => {
  const m = setupMachine({ clients: ['opencode'] });
  m.write(`app/${PLUGIN}`, 'export const Mine = 1;\n');
  const before = m.tree();
  expect(() => m.setup()).toThrow(
    expect.objectContaining({
      code: 'NOT_OURS',
      message: expect.stringMatching(/^\.opencode\/plugins\/covibe\.js .*Nothing was changed/),
      next: expect.any(String),
    }),
  );
  expect([m.tree(), states(m)]).toEqual([before, ['broken']]);

  rmSync(join(m.root, PLUGIN));
  m.setup();
  const [first = ''] = m.read(`app/${PLUGIN}`).split('\n');
  const other = setupMachine({ clients: ['opencode'] });
  other.write(`app/${PLUGIN}`, `${first}\n// of an older version\n`);
  expect(states(other)).toEqual(['stale']);
  other.setup();
  expect(states(other)).toEqual(['good']);
});

test('recognizes its plugin with Windows line endings or added lines at the top, but not without its own first line', () => {
  const m = setupMachine({ clients: ['opencode'] });
  m.setup();
  const written = m.read(`app/${PLUGIN}`);
  const changed = () => m.setup().flatMap(({ files }) => files.flatMap(({ shown, change, setBack }) => (shown === PLUGIN ? [change, ...setBack] : [])));

  m.write(`app/${PLUGIN}`, written.replaceAll('\n', '\r\n'));
  expect([states(m), changed()]).toEqual([['good'], ['unchanged']]);
  for (const text of [`/* eslint-disable */\n${written}`, `\uFEFF// @ts-nocheck\r\n${written.replaceAll('\n', '\r\n')}`]) {
    m.write(`app/${PLUGIN}`, text);
    expect([states(m), changed(), m.read(`app/${PLUGIN}`)]).toEqual([['stale'], ['changed', 'plugin'], written]);
  }
  m.write(`app/${PLUGIN}`, 'export const Mine = 1;\n');
  expect(() => m.setup()).toThrow(expect.objectContaining({ code: 'NOT_OURS' }));
  m.write(`app/${PLUGIN}`, written.replaceAll('\n', '\r\n'));
  expect(m.remove()).toContainEqual(expect.objectContaining({ shown: PLUGIN, change: 'deleted' }));

  // The file came with a clone, so this machine has no record of it.
  m.write(`app/${PLUGIN}`, `/* eslint-disable */\r\n${written.replaceAll('\n', '\r\n')}`);
  expect(states(m)).toEqual(['stale']);
});

test.each<[string, (m: SetupMachine) => void]>([
  ['a plugin that is a link', (m) => link(m, PLUGIN, join(m.home, '.bashrc'))],
  ['a plugin that is a link to nothing', (m) => link(m, PLUGIN, join(m.home, 'made-elsewhere'))],
  ['a plugin that is a link within the repository', (m) => link(m, PLUGIN, '../made-elsewhere')],
  ['an ignore file that is a link to nothing', (m) => link(m, '.covibe/.gitignore', join(m.home, 'made-elsewhere'))],
  ['a merged file that is a link out of the repository', (m) => link(m, '.mcp.json', join(m.home, 'settings.json'))],
  ['a merged file that is a link to nothing out of it', (m) => link(m, '.mcp.json', '../made-elsewhere')],
  ['a folder that is a link out of it', (m) => link(m, '.claude', m.home)],
  ['an inbox that is a link to nothing out of it', (m) => link(m, '.covibe/telemetry', join(m.home, 'made-elsewhere'))],
])('refuses %s and writes nothing', (_, make) => {
  const m = setupMachine({ clients: ['opencode', 'claude-code'] });
  m.write('home/.bashrc', 'export PRECIOUS=1 # cv_0123456789abcdefXYZ\n');
  m.write('home/settings.json', '{}');
  make(m);
  const before = m.tree();
  expect(() => m.setup()).toThrow(
    expect.objectContaining({ code: 'LINKED_FILE', message: expect.stringContaining('Nothing was changed'), next: expect.any(String) }),
  );
  expect(m.tree()).toEqual(before);
  expect(existsSync(join(m.home, '.covibe'))).toBe(false);
});

test('follows links inside the repository', () => {
  const m = setupMachine({ clients: ['claude-code'] });
  m.write('app/config/claude/keep', '');
  m.write('app/config/real.json', '{}');
  link(m, '.claude', 'config/claude');
  link(m, 'config/claude/settings.json', '../real.json');
  m.setup();
  expect(m.json('app/config/real.json')).toHaveProperty('hooks');
  m.remove();
  expect(m.read('app/config/real.json')).toBe('{}');
});

test('removal does not change a file that has since become a link out of the repository', () => {
  const m = setupMachine({ clients: ['claude-code'] });
  m.setup();
  const mine = m.write('home/mine.json', m.read('app/.mcp.json'));
  rmSync(join(m.root, '.mcp.json'));
  symlinkSync(mine, join(m.root, '.mcp.json'));
  const before = m.read('home/mine.json');
  expect(m.remove().filter(({ shown }) => shown === '.mcp.json')).toEqual([
    expect.objectContaining({ change: 'kept', stays: [expect.stringContaining('link')] }),
  ]);
  expect(m.read('home/mine.json')).toBe(before);
});

test('a file whose change could not be undone stays in the record, and a later removal undoes it', () => {
  const m = setupMachine({ clients: ['claude-code', 'codex'] });
  const before = m.tree(false);
  m.setup();
  const [claude, elsewhere, config] = [join(m.root, '.claude'), join(m.home, 'claude'), m.read('home/.codex/config.toml')];
  renameSync(claude, elsewhere);
  symlinkSync(elsewhere, claude);
  m.write('home/.codex/config.toml', 'no toml');
  const kept = m.remove().flatMap(({ shown, change, stays }) => (change === 'kept' ? [[shown, ...stays]] : []));
  expect(kept).toEqual([
    ['.claude/settings.json', expect.stringMatching(/is a link that leads out of the repository\. Remove the link.*run this again/)],
    ['~/.codex/config.toml', expect.stringMatching(/^~\/\.codex\/config\.toml, line 1.* run this again/)],
  ]);
  rmSync(claude);
  renameSync(elsewhere, claude);
  m.write('home/.codex/config.toml', config, 0o600);
  expect(m.remove().map(({ shown, change }) => [shown, change])).toEqual([
    ['.claude/settings.json', 'deleted'],
    ['~/.codex/config.toml', 'deleted'],
  ]);
  expect([m.tree(false), m.remove()]).toEqual([before, []]);
});

test('files of a worktree may be links to the main checkout, but not to any other folder outside the worktree', () => {
  const m = setupMachine({ clients: ['claude-code'] });
  const { path: main, git } = temporaryRepository();
  const root = join(m.home, 'worktree');
  git(['worktree', 'add', '--quiet', root]);
  mkdirSync(join(main, '.claude'));
  symlinkSync(join(main, '.claude'), join(root, '.claude'));
  m.setup({ root });
  const settings = join(main, '.claude/settings.json');
  expect(readFileSync(settings, 'utf8')).toContain('covibe-local hook');
  expect(new Set(m.remove(root).map(({ change }) => change))).toEqual(new Set(['deleted']));
  expect(existsSync(settings)).toBe(false);
  symlinkSync(join(m.home, 'elsewhere.json'), settings);
  expect(() => m.setup({ root })).toThrow(expect.objectContaining({ code: 'LINKED_FILE' }));
});

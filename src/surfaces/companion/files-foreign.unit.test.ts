import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type SetupMachine, setupMachine } from '../../testing/setup-machine.ts';
import { inspectSetup } from './files.ts';

const PLUGIN = '.opencode/plugins/covibe.js';

function link(m: SetupMachine, file: string, to: string): void {
  mkdirSync(dirname(join(m.root, file)), { recursive: true });
  symlinkSync(to, join(m.root, file));
}

const states = (m: SetupMachine) => inspectSetup(m.planOf()).flatMap(({ shown, state }) => (shown === PLUGIN ? [state] : []));

test('a plugin of the same name that setup did not write is not replaced; an older one of ours is, whoever committed it', () => {
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

test.each<[string, (m: SetupMachine) => void]>([
  ['a plugin that is a link', (m) => link(m, PLUGIN, join(m.home, '.bashrc'))],
  ['a plugin that is a link to nothing', (m) => link(m, PLUGIN, join(m.home, 'made-elsewhere'))],
  ['a plugin that is a link within the repository', (m) => link(m, PLUGIN, '../made-elsewhere')],
  ['an ignore file that is a link to nothing', (m) => link(m, '.covibe/.gitignore', join(m.home, 'made-elsewhere'))],
  ['a merged file that is a link out of the repository', (m) => link(m, '.mcp.json', join(m.home, 'settings.json'))],
  ['a merged file that is a link to nothing out of it', (m) => link(m, '.mcp.json', '../made-elsewhere')],
  ['a folder that is a link out of it', (m) => link(m, '.claude', m.home)],
  ['an inbox that is a link to nothing out of it', (m) => link(m, '.covibe/telemetry', join(m.home, 'made-elsewhere'))],
])('%s is refused, and nothing is written anywhere', (_, make) => {
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

test('links within the repository are followed as the system follows them', () => {
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

test('what has become a link out of the repository since is not changed when setup is undone', () => {
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

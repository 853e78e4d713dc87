import { chmodSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig, withoutPsk } from '../../../features/cycle/config.ts';
import { CONFIG, writeConfig } from '../../../testing/scenes/cycle.ts';
import { temporaryRepository } from '../../../testing/scenes/repository.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import type { CommandResult } from '../command.ts';
import { createOutput } from '../output.ts';
import { cycleInit } from './cycle-init.ts';

const file = (repository: string, name = 'config.json') => join(repository, '.mcp-broker', name);
const text = (repository: string, name?: string) => readFileSync(file(repository, name), 'utf8');
const modeOf = (path: string) => statSync(path).mode & 0o777;
const place = () => realpathSync(temporaryFolder());

/** Runs the command in a folder, as a person would. */
async function init(cwd: string, values: Record<string, string> = {}): Promise<CommandResult> {
  const out = createOutput({}, process.stdout, process.stderr);
  const client = () => Promise.reject(new Error('it needs no server'));
  return (await cycleInit.run({ env: { COVENANT_HOME: temporaryFolder() }, cwd, json: false, out, values, positionals: [], client })) as CommandResult;
}

test('cycle init writes a config with a PSK for each role and prints no PSK; only the owner can read the file, and git ignores it [cycle.cli.helper]', async () => {
  const { path, git } = temporaryRepository();
  mkdirSync(join(path, 'src/deep'), { recursive: true });
  const done = await init(join(path, 'src/deep'));
  expect(done.json).toEqual({
    kind: 'cycle_initialized',
    repository: path,
    config: file(path),
    created: true,
    added_psks: ['gemini', 'codex'],
    roles: ['gemini', 'codex'],
    warnings: [],
  });
  const { agents, ...rest } = JSON.parse(text(path)) as typeof CONFIG;
  expect({ ...rest, agents: { gemini: { psk: expect.any(String) }, codex: { psk: expect.any(String) } } }).toEqual({ ...CONFIG, agents: expect.any(Object) });
  for (const { psk } of Object.values(agents)) {
    expect(psk).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(done)).not.toContain(psk);
  }
  expect(agents.gemini.psk).not.toBe(agents.codex.psk);
  expect(modeOf(file(path))).toBe(0o600);
  expect(git(['status', '--porcelain'])).toBe('');
  expect(readdirSync(join(path, '.mcp-broker')).sort()).toEqual(['.gitignore', 'config.json']);

  const before = text(path);
  expect((await init(path)).json).toMatchObject({ created: false, added_psks: [], warnings: [] });
  expect([text(path), text(path, '.gitignore')]).toEqual([before, '*\n']);
});

test('cycle init adds missing PSKs to a valid config and keeps everything else', async () => {
  const path = place();
  const machine = {
    roles: ['plan', 'build'],
    phases: { a: 'plan', b: 'build', c: 'build' },
    transitions: [
      { from: 'a', to: 'b', target: 'build' },
      { from: 'b', to: 'c' },
    ],
    final: 'c',
  };
  const mine = { session_ttl_hours: 2, ...machine, agents: { build: { psk: 'kept' }, plan: { psk: '' } } };
  writeConfig(path, mine);
  writeFileSync(file(path, '.gitignore'), '# ours\n*\n!archive');
  expect((await init(place(), { repo: path })).json).toMatchObject({ created: false, added_psks: ['plan'], roles: ['plan', 'build'] });
  const after = JSON.parse(text(path)) as typeof mine;
  expect(after).toEqual({ ...mine, agents: { build: { psk: 'kept' }, plan: { psk: expect.stringMatching(/^[0-9a-f]{64}$/) } } });
  const read = readConfig(text(path));
  expect('config' in read && withoutPsk(read.config)).toEqual([]);
  expect(modeOf(file(path))).toBe(0o600);
  // The earlier rules stay in the file. Our rule is last, so that it overrides them.
  expect(text(path, '.gitignore')).toBe('# ours\n*\n!archive\n*\n');
});

test.each([
  ['{ "agents": ', 'not valid JSON'],
  [JSON.stringify({ ...CONFIG, mood: 'good' }), 'mood: unknown key'],
  [JSON.stringify({ ...CONFIG, storage_path: 'elsewhere' }), 'storage_path: only ".mcp-broker" is supported'],
])('cycle init reports the fault in %s and changes nothing', async (config, fault) => {
  const path = place();
  writeConfig(path, config);
  await expect(init(path)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: `${file(path)}: ${fault}.` });
  expect([text(path), readdirSync(join(path, '.mcp-broker'))]).toEqual([config, ['config.json']]);
});

test('cycle init refuses to add a PSK to a tracked file or through a link to another folder, and warns if git or other accounts can read the PSKs', async () => {
  const { path, git } = temporaryRepository();
  writeConfig(path, { mode: 'approval' });
  git(['add', '.']);
  await expect(init(path)).rejects.toMatchObject({ code: 'CONFIG_TRACKED', next: expect.stringContaining('git rm --cached .mcp-broker/config.json') });
  expect(text(path)).toBe('{"mode":"approval"}');
  git(['rm', '--quiet', '--cached', '.mcp-broker/config.json']);
  expect((await init(path)).json).toMatchObject({ added_psks: ['gemini', 'codex'], warnings: [] });

  git(['add', '--force', '.mcp-broker/config.json']);
  chmodSync(file(path), 0o644);
  const { json } = await init(path);
  expect(json.warnings).toEqual([expect.stringContaining('git tracks the file'), expect.stringContaining('chmod 600')]);

  const [linked, elsewhere] = [place(), place()];
  symlinkSync(elsewhere, join(linked, '.mcp-broker'));
  await expect(init(linked)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(elsewhere) });
  expect(readdirSync(elsewhere)).toEqual([]);
});

test('cycle init reports a folder or file that prevents it from writing its files', async () => {
  const path = place();
  mkdirSync(file(path, '.gitignore'), { recursive: true });
  await expect(init(path)).rejects.toMatchObject({ code: 'CONFIG_NOT_WRITTEN', message: expect.stringContaining(`${file(path, '.gitignore')} is not a file`) });
  const blocked = place();
  writeFileSync(join(blocked, '.mcp-broker'), '');
  await expect(init(blocked)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('cannot be read (ENOTDIR)') });
});

test('if cycle init runs several times at once, one run writes the config and the others keep it', async () => {
  const path = place();
  const done = await Promise.all(Array.from({ length: 5 }, () => init(path)));
  expect(done.map(({ json }) => json.created).sort()).toEqual([false, false, false, false, true]);
  expect(done.flatMap(({ json }) => json.added_psks)).toEqual(['gemini', 'codex']);
  expect(readdirSync(join(path, '.mcp-broker')).sort()).toEqual(['.gitignore', 'config.json']);
  await expect(init(path, { repo: 'nowhere' })).rejects.toMatchObject({ message: expect.stringContaining('--repo: the folder') });
});

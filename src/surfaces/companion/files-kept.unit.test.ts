import { lstatSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { handWritten, ORIGIN, setupMachine } from '../../testing/programs/setup-machine.ts';
import { jsonIn } from './edit/json-text.ts';
import { inspectSetup } from './files.ts';

test('a second setup changes nothing, not even modification times', () => {
  const m = setupMachine();
  handWritten(m);
  m.setup();
  const before = m.tree();
  expect(m.setup({ now: 2 }).flatMap(({ files }) => files.map(({ change }) => change))).toEqual(Array(9).fill('unchanged'));
  expect(m.tree()).toEqual(before);
  expect(inspectSetup(m.planOf()).filter(({ state }) => state !== 'good')).toEqual([]);
});

test('keeps and counts the entries that people have in their files', () => {
  const m = setupMachine();
  handWritten(m);
  const kept = Object.fromEntries(m.setup().flatMap(({ files }) => files.map((file) => [file.shown, file.kept])));
  expect(kept).toMatchObject({
    '.mcp.json': 'your 1 server kept',
    '.claude/settings.json': 'your 1 hook kept',
    '~/.codex/config.toml': 'your 1 server kept',
    '.codex/hooks.json': '',
  });
  expect(m.read('app/.claude/settings.json')).toMatch(
    /^\t\t"Stop": \[\{ "hooks": \[\{ "type": "command", "command": "say done" \}\] \}, \{"hooks":.+\], \/\/ loud$/m,
  );
  expect(
    m
      .read('app/.mcp.json')
      .split('\n')
      .every((line, index, all) => index === all.length - 1 || line.endsWith('\r')),
  ).toBe(true);
  expect(lstatSync(join(m.root, '.gemini/settings.json')).isSymbolicLink()).toBe(true);
});

test('removal restores everything byte for byte, with modes and links, and deletes the folders that setup created', () => {
  const bare = setupMachine();
  const nothing = bare.tree(false);
  bare.setup();
  bare.setup({ hooks: 'command' });
  expect(new Set(bare.remove().map(({ change }) => change))).toEqual(new Set(['deleted']));
  expect(bare.tree(false)).toEqual(nothing);
  expect(bare.remove()).toEqual([]);

  const m = setupMachine();
  handWritten(m);
  const before = m.tree(false);
  m.setup();
  m.setup({ hooks: 'command' });
  expect(m.remove().filter(({ stays }) => stays.length > 0)).toEqual([]);
  expect(m.tree(false)).toEqual(before);
});

test('removal keeps entries that were changed by hand, and names them', () => {
  const m = setupMachine({ clients: ['claude-code', 'codex'] });
  m.setup();
  const settings = m.json('app/.claude/settings.json');
  settings.hooks.Stop[0].hooks[0].timeout = 99;
  settings.hooks.SessionEnd[0].hooks.push({ type: 'command', command: 'mine' });
  m.write('app/.claude/settings.json', JSON.stringify({ ...settings, model: 'x' }, null, 4));
  m.write('app/.mcp.json', '{ "mcpServers": ');
  m.write('home/.codex/config.toml', `${m.read('home/.codex/config.toml')}\n[projects."/x"]\ntrust_level = "trusted"\n`);
  const removals = Object.fromEntries(m.remove().map(({ shown, change, stays }) => [shown, [change, ...stays]]));
  expect(removals).toEqual({
    '.mcp.json': ['kept', expect.stringMatching(/^\.mcp\.json, line 1, column \d+: it is not valid JSON/)],
    '.claude/settings.json': ['cleaned', 'the Stop hook was changed by hand', 'the SessionEnd hook was changed by hand'],
    '~/.codex/config.toml': ['cleaned'],
    '.codex/hooks.json': ['deleted'],
    '.covibe/.gitignore': ['deleted'],
  });
  expect(m.json('app/.claude/settings.json')).toEqual({ hooks: { Stop: settings.hooks.Stop, SessionEnd: settings.hooks.SessionEnd }, model: 'x' });
  expect(parse(m.read('home/.codex/config.toml'))).toEqual({ projects: { '/x': { trust_level: 'trusted' } } });
  expect(m.read('app/.mcp.json')).toBe('{ "mcpServers": ');
});

test('removal restores edits that were made between two setups', () => {
  const m = setupMachine({ clients: ['claude-code'] });
  m.setup();
  m.write('app/.mcp.json', m.read('app/.mcp.json').replace('"mcpServers": {', '"mcpServers": {\n    "mine": {},'));
  m.setup({ origin: 'http://127.0.0.1:4000' });
  expect(m.json('app/.mcp.json').mcpServers.covibe.env.COVIBE_BASE_URL).toBe('http://127.0.0.1:4000');
  m.remove();
  expect(m.json('app/.mcp.json')).toEqual({ mcpServers: { mine: {} } });
});

test('removes the Codex table when setup is removed from the last repository that needs it', () => {
  const m = setupMachine({ clients: ['codex'] });
  const other = join(dirname(m.root), 'other');
  mkdirSync(other);
  m.write('home/.codex/config.toml', 'model = "x"\n');
  m.setup();
  m.setup({ root: other });
  expect(m.remove()).toContainEqual({
    path: join(m.home, '.codex/config.toml'),
    shown: '~/.codex/config.toml',
    change: 'kept',
    stays: [`${other} needs it too`],
  });
  expect(inspectSetup(m.planOf({ root: other })).every(({ state }) => state === 'good')).toBe(true);
  expect(m.remove(other)).toContainEqual(expect.objectContaining({ shown: '~/.codex/config.toml', change: 'restored' }));
  expect(m.read('home/.codex/config.toml')).toBe('model = "x"\n');
});

test('a file that has become a link keeps a single record, and removal restores it through the link', () => {
  const m = setupMachine({ clients: ['codex', 'claude-code'] });
  m.write('home/.codex/config.toml', 'model = "x"\n');
  m.write('app/.mcp.json', '{}');
  m.setup();
  for (const [file, to] of [
    [join(m.home, '.codex/config.toml'), join(m.home, 'dotfiles/config.toml')],
    [join(m.root, '.mcp.json'), join(m.root, 'config/mcp.json')],
  ] as const) {
    mkdirSync(dirname(to));
    renameSync(file, to);
    symlinkSync(to, file);
  }
  const recorded = () => m.json('home/.covibe/setups/machine.json').files.map(({ path }: { path: string }) => path);
  m.setup({ origin: 'http://127.0.0.1:4000' });
  expect(recorded()).toEqual([join(m.home, '.codex/config.toml')]);
  const changes = m.remove().map(({ path, change, stays }) => [path, change, ...stays]);
  expect(changes).toContainEqual([join(m.home, 'dotfiles/config.toml'), 'restored']);
  expect(changes.filter(([path]) => path?.includes('mcp.json'))).toEqual([[join(m.root, 'config/mcp.json'), 'restored']]);
  expect([m.read('home/dotfiles/config.toml'), m.read('app/config/mcp.json')]).toEqual(['model = "x"\n', '{}']);
  expect(lstatSync(join(m.home, '.codex/config.toml')).isSymbolicLink()).toBe(true);
});

test('reports older entries as stale and missing entries as missing, and changes nothing. Removal restores the older entries', () => {
  const m = setupMachine({ clients: ['claude-code', 'codex'] });
  m.write('app/.mcp.json', '{ "mcpServers": { "covibe": { "command": "npx", "args": ["covibe-mcp"] } } }');
  m.write('home/.codex/config.toml', '[mcp_servers.covibe]\ncommand = "covibe-mcp"\ncwd = "/pinned"\n');
  m.write(
    'app/.claude/settings.json',
    '{ "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "/old/covibe-local hook claude-code start" }] }] } }',
  );
  const before = m.tree();
  const states = () => Object.fromEntries(inspectSetup(m.planOf()).map(({ shown, what, state }) => [`${shown} ${what}`, state]));
  expect(states()).toMatchObject({
    '.mcp.json server entry': 'stale',
    '~/.codex/config.toml server entry': 'stale',
    '.claude/settings.json SessionStart hook': 'stale',
    '.claude/settings.json Stop hook': 'missing',
    '.codex/hooks.json Stop hook': 'missing',
  });
  expect(inspectSetup(m.planOf())[0]?.fix).toBe(`covibe-local setup --base-url ${ORIGIN} --agents claude-code,codex`);
  expect(m.tree()).toEqual(before);
  m.setup();
  expect(new Set(Object.values(states()))).toEqual(new Set(['good']));
  expect(m.json('app/.claude/settings.json').hooks.SessionStart).toHaveLength(1);
  m.setup({ origin: 'http://127.0.0.1:4000' });
  m.write('home/.codex/config.toml', `# mine\n${m.read('home/.codex/config.toml')}`);
  m.remove();
  expect(m.read('app/.mcp.json')).toBe('{ "mcpServers": { "covibe": { "command": "npx", "args": ["covibe-mcp"] } } }');
  expect(m.read('home/.codex/config.toml')).toBe('# mine\n[mcp_servers.covibe]\ncommand = "covibe-mcp"\ncwd = "/pinned"\n');
});

test('keeps keys and comments that people add to our entry, and reports no fault. Removal then keeps the entry', () => {
  const m = setupMachine({ clients: ['gemini', 'codex'] });
  m.setup();
  m.write('app/.gemini/settings.json', m.read('app/.gemini/settings.json').replace('"covibe": {', '"covibe": { // ours\n      "trust": true,'));
  const before = m.tree();
  expect(inspectSetup(m.planOf()).filter(({ state }) => state !== 'good')).toEqual([]);
  m.setup();
  expect(m.tree()).toEqual(before);
  m.setup({ origin: 'http://127.0.0.1:4000' });
  expect(m.read('app/.gemini/settings.json')).toMatch(
    /"covibe": \{ \/\/ ours\n {6}"trust": true,\n {6}"command": "covibe-mcp",\n.*http:\/\/127\.0\.0\.1:4000/s,
  );
  expect(m.remove()).toContainEqual(
    expect.objectContaining({ shown: '.gemini/settings.json', change: 'cleaned', stays: ['the server entry was changed by hand'] }),
  );
  expect(m.read('app/.gemini/settings.json')).toContain('"trust": true');
});

test('replaces an existing connection under the name of our entry with the bridge, and removal restores that connection', () => {
  const m = setupMachine({ clients: ['gemini', 'codex'] });
  m.write('app/.gemini/settings.json', '{ "mcpServers": { "covibe": { "trust": true, "httpUrl": "http://x/mcp", "headers": { "a": "b" } } } }');
  m.write('home/.codex/config.toml', '[mcp_servers.covibe]\nurl = "http://x/mcp"\nbearer_token_env_var = "T"\nenabled = true\n');
  m.setup();
  expect(Object.keys(m.json('app/.gemini/settings.json').mcpServers.covibe)).toEqual(['trust', 'command', 'env']);
  expect(parse(m.read('home/.codex/config.toml')).mcp_servers).toEqual({ covibe: expect.not.objectContaining({ url: expect.anything() }) });
  m.write('app/.gemini/settings.json', `${m.read('app/.gemini/settings.json')}\n`);
  m.remove();
  expect(m.json('app/.gemini/settings.json')).toEqual({ mcpServers: { covibe: { trust: true, httpUrl: 'http://x/mcp', headers: { a: 'b' } } } });
  expect(m.read('home/.codex/config.toml')).toContain('bearer_token_env_var = "T"');
});

test('keeps keys that people add to our hook, restores keys that they changed, and names the restored hook', () => {
  const m = setupMachine({ clients: ['claude-code', 'cursor'], hooks: 'command' });
  m.setup();
  const settings = 'app/.claude/settings.json';
  const added = m
    .read(settings)
    .replace('"Stop": [', '"Stop": [ // mine')
    .replace(/("command": "[^"]*claude-code stop[^"]*",)/, '/* loud */ $1\n            "statusMessage": "mine",');
  m.write(settings, added);
  expect(inspectSetup(m.planOf()).filter(({ state }) => state !== 'good')).toEqual([]);
  expect(m.setup().flatMap(({ files }) => files.map(({ change, setBack }) => [change, setBack]))).toEqual(Array(4).fill(['unchanged', []]));

  m.write(settings, added.replace(/"matcher": "[^"]*"/, '// narrow on purpose\n        "matcher": "MyTool"').replace('"timeout": 15', '"timeout": 99'));
  m.write('app/.cursor/hooks.json', m.read('app/.cursor/hooks.json').replace('"timeout": 15', '"timeout": 99'));
  const outcomes = m.setup().flatMap(({ files }) => files.map(({ shown, change, setBack }) => [shown, change, ...setBack]));
  expect(outcomes).toEqual([
    ['.mcp.json', 'unchanged'],
    ['.claude/settings.json', 'changed', 'SessionStart hook', 'PreToolUse hook'],
    ['.cursor/mcp.json', 'unchanged'],
    ['.cursor/hooks.json', 'changed', 'sessionStart hook'],
  ]);
  expect(m.read(settings)).toMatch(/\/\/ narrow on purpose\n {8}"matcher": "Edit\|/);
  expect(m.read(settings).replace('// narrow on purpose\n        ', '')).toBe(added);

  // A new address replaces the old one, and the person's own keys stay.
  m.write(settings, m.read(settings).replace(/("command": "[^"]*claude-code before-tool[^"]*",)/, '$1\n            "statusMessage": "asking",'));
  expect(m.setup({ hooks: 'http' }).flatMap(({ files }) => files.flatMap(({ setBack }) => setBack))).toEqual([]);
  expect(m.read(settings)).toContain('"statusMessage": "asking"');
  const { hooks } = jsonIn(m.read(settings), settings) as { hooks: { PreToolUse: [{ hooks: [object] }] } };
  expect(Object.keys(hooks.PreToolUse[0].hooks[0]).toSorted()).toEqual(['allowedEnvVars', 'headers', 'statusMessage', 'timeout', 'type', 'url']);
});

import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { ORIGIN, setupMachine } from '../../testing/programs/setup-machine.ts';
import { installedClients } from './desired-files.ts';
import { inspectSetup } from './files.ts';

test('[companion.setup.claude-mcp-json] .mcp.json gets the stdio bridge for Claude Code and contains no path of this machine', () => {
  const m = setupMachine();
  m.setup();
  expect(m.json('app/.mcp.json')).toEqual({
    mcpServers: {
      covibe: {
        type: 'stdio',
        command: 'covibe-mcp',
        env: { COVIBE_BASE_URL: ORIGIN, COVIBE_AGENT: 'claude-code', COVIBE_MCP_TOKEN: `\${COVIBE_MCP_TOKEN:-}` },
      },
    },
  });
});

test('the hooks of Claude Code call a local server directly with --hooks http, and otherwise run our command', () => {
  const http = setupMachine();
  http.setup();
  const { hooks } = http.json('app/.claude/settings.json');
  expect(hooks.PreToolUse).toEqual([
    {
      matcher: 'Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*',
      hooks: [
        {
          type: 'http',
          url: `${ORIGIN}/api/hooks/claude-code/before-tool`,
          timeout: 15,
          headers: { Authorization: 'Bearer $COVIBE_MCP_TOKEN' },
          allowedEnvVars: ['COVIBE_MCP_TOKEN'],
        },
      ],
    },
  ]);
  const typeOf = (event: string) => hooks[event][0].hooks[0].type;
  expect(['UserPromptSubmit', 'PostToolUse', 'SessionStart', 'Stop', 'SessionEnd'].map(typeOf)).toEqual(['http', 'http', 'command', 'command', 'command']);
  http.setup({ hooks: 'command' });
  expect(http.json('app/.claude/settings.json').hooks.PreToolUse).toEqual([
    {
      matcher: 'Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*',
      hooks: [{ type: 'command', command: `covibe-local hook claude-code before-tool --base-url ${ORIGIN}`, timeout: 15 }],
    },
  ]);
  http.remove();
  expect(existsSync(join(http.root, '.claude'))).toBe(false);
});

test('[companion.setup.cursor-mcp-json] [companion.setup.cursor-hooks-json] a machine with Cursor gets its server entry and lifecycle hooks; without Cursor no .cursor file is written', () => {
  const m = setupMachine();
  m.write('bin/claude', '', 0o755);
  expect(installedClients(m.env)).toEqual(['claude-code']);
  m.setup({ clients: installedClients(m.env) });
  expect(existsSync(join(m.root, '.cursor'))).toBe(false);
  mkdirSync(join(m.home, '.cursor'));
  expect(installedClients(m.env)).toEqual(['claude-code', 'cursor']);
  m.setup({ clients: installedClients(m.env) });
  expect(m.json('app/.cursor/mcp.json').mcpServers.covibe).toMatchObject({
    args: ['-c', 'cd "$0" && exec "$@"', `\${workspaceFolder}`, 'covibe-mcp'],
    env: { COVIBE_AGENT: 'cursor', COVIBE_MCP_TOKEN: `\${env:COVIBE_MCP_TOKEN}` },
  });
  const { version, hooks } = m.json('app/.cursor/hooks.json');
  expect([version, Object.keys(hooks)]).toEqual([1, ['sessionStart', 'sessionEnd', 'preToolUse', 'postToolUse', 'preCompact', 'stop']]);
  expect(hooks.preToolUse).toEqual([
    { command: `covibe-local hook cursor before-tool --base-url ${ORIGIN}`, timeout: 15, matcher: expect.stringContaining('Write') },
  ]);
});

test('Codex gets one table for all repositories and hooks in this repository. Gemini CLI and opencode get files of their own', () => {
  const m = setupMachine();
  const outcomes = m.setup();
  expect(parse(m.read('home/.codex/config.toml'))).toEqual({
    mcp_servers: { covibe: { command: 'covibe-mcp', env: { COVIBE_BASE_URL: ORIGIN, COVIBE_AGENT: 'codex' }, env_vars: ['COVIBE_MCP_TOKEN', 'PWD'] } },
  });
  expect(statSync(join(m.home, '.codex/config.toml')).mode & 0o777).toBe(0o600);
  expect(Object.keys(m.json('app/.codex/hooks.json').hooks)).toEqual(['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop']);
  expect(m.json('app/.gemini/settings.json')).toMatchObject({
    mcpServers: { covibe: { command: 'covibe-mcp' } },
    hooks: { BeforeTool: [{ matcher: expect.stringContaining('write_file'), hooks: [{ timeout: 15_000 }] }] },
  });
  expect(m.json('app/opencode.json').mcp.covibe.command).toEqual(['covibe-mcp']);
  expect(m.read('app/.opencode/plugins/covibe.js')).toContain(JSON.stringify(['covibe-local', 'hook', '--base-url', ORIGIN, 'opencode']));
  expect(outcomes.find(({ client }) => client === 'codex')).toMatchObject({
    files: [{ shown: '~/.codex/config.toml', change: 'created' }, { shown: '.codex/hooks.json' }],
    notes: [expect.stringContaining('trust this folder')],
  });
});

test('[companion.setup.telemetry-inbox] setup creates the inbox, and git ignores it', () => {
  const m = setupMachine({ clients: ['codex'] });
  m.setup();
  expect(statSync(join(m.root, '.covibe/telemetry')).isDirectory()).toBe(true);
  expect(m.read('app/.covibe/.gitignore')).toBe('*\n');
});

test('[companion.setup.stores-no-raw-token] setup writes no token to a file, neither from the environment nor from a replaced entry', () => {
  const m = setupMachine({ clients: ['claude-code'] });
  const token = `cv_${'a'.repeat(40)}`;
  m.write('app/.mcp.json', JSON.stringify({ mcpServers: { covibe: { command: 'covibe-mcp', env: { COVIBE_MCP_TOKEN: token } } } }));
  m.setup({ env: { ...m.env, COVIBE_MCP_TOKEN: token } });
  const files = [m.root, m.home].flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)));
  const written = files.filter((path) => lstatSync(path).isFile());
  expect(written.length).toBeGreaterThan(3);
  expect(written.filter((path) => readFileSync(path, 'utf8').includes(token))).toEqual([]);
  for (const record of written.filter((path) => path.includes('/.covibe/setups/'))) expect(statSync(record).mode & 0o777).toBe(0o600);
});

test("without our programs on the PATH, setup uses the package in the repository or the programs' path on this machine", () => {
  const m = setupMachine({ clients: ['claude-code', 'codex'], hooks: 'command', programs: [] });
  const [first] = m.setup();
  expect(first?.notes.at(-1)).toMatch(/^covibe-local is not on the PATH, so the files contain its path .* npm install --global /);
  expect(m.json('app/.mcp.json').mcpServers.covibe.command).toBe(process.execPath);
  m.write('app/node_modules/.bin/covibe-local', '', 0o755);
  m.setup();
  expect(m.json('app/.mcp.json').mcpServers.covibe).toMatchObject({ command: 'npx', args: ['--no-install', 'covibe-mcp'] });
  const command = (file: string) => m.json(file).hooks.Stop[0].hooks[0].command as string;
  expect(command('app/.claude/settings.json')).toMatch(/^"\$CLAUDE_PROJECT_DIR"\/node_modules\/\.bin\/covibe-local hook claude-code stop /);
  expect(command('app/.codex/hooks.json')).toMatch(/^npx --no-install covibe-local hook codex stop /);
  expect(inspectSetup(m.planOf({ env: { ...m.env, PATH: `${m.bin}:${join(m.root, 'node_modules/.bin')}` } })).every(({ state }) => state === 'good')).toBe(
    true,
  );
});

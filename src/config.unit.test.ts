import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';

function home(toml?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  if (toml !== undefined) writeFileSync(join(folder, 'config.toml'), toml);
  return folder;
}

test('the port is 3001 unless MCP_SERVER_PORT sets it [config.env.server-port]', () => {
  const COVENANT_HOME = home();
  expect(loadConfig({ COVENANT_HOME }).port).toBe(3001);
  expect(loadConfig({ COVENANT_HOME, MCP_SERVER_PORT: '4000' }).port).toBe(4000);
});

test('a flag takes precedence over the environment, the environment over the file, the file over the default [config.precedence.order]', () => {
  const COVENANT_HOME = home('port = 5001\nlog_level = "warn"\n');
  expect(loadConfig({ COVENANT_HOME })).toMatchObject({ port: 5001, log_level: 'warn' });
  expect(loadConfig({ COVENANT_HOME, MCP_SERVER_PORT: '5002' })).toMatchObject({ port: 5002, log_level: 'warn' });
  expect(loadConfig({ COVENANT_HOME, MCP_SERVER_PORT: '5002' }, { port: '5003' })).toMatchObject({ port: 5003 });
});

test('the home is ~/.covenant unless COVENANT_HOME names another folder [config.home.default] [config.home.moved]', () => {
  expect(loadConfig({}).home).toBe(join(homedir(), '.covenant'));
  expect(loadConfig({}).database_path).toBe(join(homedir(), '.covenant', 'covenant.db'));
  const COVENANT_HOME = home();
  expect(loadConfig({ COVENANT_HOME })).toMatchObject({ home: COVENANT_HOME, database_path: join(COVENANT_HOME, 'covenant.db') });
});

test('MCP_DATABASE_PATH, DATABASE_URL, MCP_LOG_LEVEL and MCP_TOOL_TIMEOUT set their settings [config.env.database-path] [config.env.database-url] [config.env.log-level] [config.env.tool-timeout]', () => {
  const COVENANT_HOME = home();
  expect(
    loadConfig({ COVENANT_HOME, MCP_DATABASE_PATH: '/tmp/x.db', DATABASE_URL: 'postgres://u:p@h/d', MCP_LOG_LEVEL: 'debug', MCP_TOOL_TIMEOUT: '5' }),
  ).toMatchObject({ database_path: '/tmp/x.db', database_url: 'postgres://u:p@h/d', log_level: 'debug', tool_timeout_ms: 5 });
  expect(loadConfig({ COVENANT_HOME }).tool_timeout_ms).toBe(30_000);
});

test.each([
  [{ MCP_SERVER_PORT: 'abc' }, undefined, /MCP_SERVER_PORT/],
  [{ MCP_LOG_LEVEL: 'loud' }, undefined, /MCP_LOG_LEVEL/],
  [{ DATABASE_URL: 'mysql://x' }, undefined, /DATABASE_URL: expected postgres/],
  [{ MCP_TOOL_TIMEOUT: '0' }, undefined, /MCP_TOOL_TIMEOUT/],
  [{}, 'prot = 1\n', /config\.toml: prot: unknown setting/],
  [{}, 'port = "x"\n', /config\.toml: port/],
  [{}, 'port = \n', /config\.toml:1:/],
  [{}, 'allowed_origins = ["evil"]\n', /allowed_origins/],
  [{}, '[machine]\nrepositories = ["work"]\n', /machine\.repositories\.0: expected absolute paths/],
  [{}, '[launchers.mine]\ncommand = "mine"\n', /launchers\.mine: expected \{\{prompt\}\} in args/],
  [{}, '[launchers.mine]\ncommand = "mine"\nprompt = "file"\nargs = ["\\u0000"]\n', /launchers\.mine\.args\.0: contains a NUL/],
])('refuses a wrong setting by name: %j %j', (env, toml, message) => {
  const COVENANT_HOME = home(toml);
  expect(() => loadConfig({ COVENANT_HOME, ...env } as NodeJS.ProcessEnv)).toThrow(ConfigError);
  expect(() => loadConfig({ COVENANT_HOME, ...env } as NodeJS.ProcessEnv)).toThrow(message);
});

test('a relative [companion] manifest is resolved in the home', () => {
  expect(loadConfig({ COVENANT_HOME: home() }).companion).toEqual({});
  const COVENANT_HOME = home('[companion]\nmanifest = "companion.json"\n');
  expect(loadConfig({ COVENANT_HOME }).companion).toEqual({ manifest: join(COVENANT_HOME, 'companion.json') });
  expect(loadConfig({ COVENANT_HOME: home('[companion]\nmanifest = "/srv/companion.json"\n') }).companion).toEqual({ manifest: '/srv/companion.json' });
  expect(() => loadConfig({ COVENANT_HOME: home('[companion]\nmanifst = "x"\n') })).toThrow(/companion\.manifst|manifst/);
});

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { initSystemOf } from './init-systems.ts';
import { installService, removeService, serviceState } from './service.ts';

const ORIGIN = 'http://127.0.0.1:3001';
const OTHER = 'https://covenant.example';

/** Creates a home and a fake init program that records its arguments. */
function machine(program: 'systemctl' | 'launchctl', script = '') {
  const home = temporaryFolder();
  const bin = join(home, 'bin');
  const calls = join(home, 'calls');
  mkdirSync(bin);
  writeFileSync(join(bin, program), `#!/bin/sh\necho "$@" >> '${calls}'\n${script}`);
  chmodSync(join(bin, program), 0o755);
  const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin` };
  return { env, home, calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []) };
}

const UNIT = '.config/systemd/user/covibe-watch.service';

test('systemd: setup writes the service once as a user unit, enables it and starts it', async () => {
  const m = machine('systemctl');
  expect(await installService({ env: m.env, platform: 'linux', origin: ORIGIN })).toEqual({ state: 'running', file: join(m.home, UNIT), was: undefined });
  const text = readFileSync(join(m.home, UNIT), 'utf8');
  expect(text).toMatch(new RegExp(`^ExecStart="${process.execPath}" ".+" "watch" "--base-url" "${ORIGIN}"$`, 'm'));
  const start = ['--user show-environment', '--user daemon-reload', '--user enable --now covibe-watch.service', '--user restart covibe-watch.service'];
  expect(m.calls()).toEqual(start);

  await installService({ env: m.env, platform: 'linux', origin: ORIGIN });
  expect(m.calls().slice(start.length)).toEqual(['--user show-environment', '--user enable --now covibe-watch.service']);
  expect(readFileSync(join(m.home, UNIT), 'utf8')).toBe(text);
  expect(await serviceState({ env: m.env, platform: 'linux' })).toMatchObject({ state: 'running', origin: ORIGIN });
});

test('launchd: the service is a launch agent that is reloaded when it changes', async () => {
  const m = machine('launchctl');
  const file = join(m.home, 'Library/LaunchAgents/covibe.watch.plist');
  expect(await installService({ env: m.env, platform: 'darwin', origin: ORIGIN })).toEqual({ state: 'running', file, was: undefined });
  expect(readFileSync(file, 'utf8')).toContain(`<string>--base-url</string>\n    <string>${ORIGIN}</string>`);
  const domain = `gui/${process.getuid?.()}`;
  expect(m.calls()).toEqual([`print ${domain}`, `bootout ${domain}/covibe.watch`, `bootstrap ${domain} ${file}`]);
  expect(await installService({ env: m.env, platform: 'darwin', origin: OTHER })).toMatchObject({ state: 'running', was: ORIGIN });
  expect(await removeService({ env: m.env, platform: 'darwin' })).toEqual({ file, removed: true });
  expect(existsSync(file)).toBe(false);
});

test('launchd: an unchanged agent that does not load is not reported as running', async () => {
  const m = machine('launchctl', '[ -e "$HOME/broken" ] && case "$*" in bootstrap*|print*covibe*) echo "no such service" >&2; exit 5;; esac\nexit 0\n');
  const install = () => installService({ env: m.env, platform: 'darwin', origin: ORIGIN });
  expect([await install(), await install()]).toMatchObject([{ state: 'running' }, { state: 'running' }]);
  writeFileSync(join(m.home, 'broken'), '');
  expect(await install()).toMatchObject({ state: 'failed', reason: 'no such service' });
});

test('a machine has only one service: setup for another server replaces the server and reports that', async () => {
  const m = machine('systemctl');
  await installService({ env: m.env, platform: 'linux', origin: ORIGIN });
  expect(await installService({ env: m.env, platform: 'linux', origin: OTHER })).toMatchObject({ state: 'running', was: ORIGIN });
  expect(await serviceState({ env: m.env, platform: 'linux' })).toMatchObject({ origin: OTHER });
});

test('writes nothing if no init system is available', async () => {
  const none = temporaryFolder();
  expect(await installService({ env: { HOME: none, PATH: none }, platform: 'linux', origin: ORIGIN })).toEqual({ state: 'unavailable' });
  const container = machine('systemctl', 'echo "Failed to connect to bus: No medium found" >&2; exit 1');
  expect(await installService({ env: container.env, platform: 'linux', origin: ORIGIN })).toEqual({ state: 'unavailable' });
  expect([existsSync(join(none, '.config')), existsSync(join(container.home, '.config'))]).toEqual([false, false]);
  expect(await serviceState({ env: container.env, platform: 'linux' })).toEqual({ state: 'unavailable' });
});

test("reports a service that does not start as failed, with the init system's message", async () => {
  const m = machine('systemctl', 'case "$2" in enable) echo "Unit is masked." >&2; exit 1;; is-active) exit 3;; esac');
  expect(await installService({ env: m.env, platform: 'linux', origin: ORIGIN })).toMatchObject({ state: 'failed', reason: 'Unit is masked.' });
  expect(await serviceState({ env: m.env, platform: 'linux' })).toMatchObject({ state: 'stopped', restart: 'systemctl --user restart covibe-watch.service' });
});

test('neither replaces nor removes a unit that someone else wrote or that was changed by hand', async () => {
  const m = machine('systemctl');
  const file = join(m.home, UNIT);
  await installService({ env: m.env, platform: 'linux', origin: ORIGIN });
  const edited = `${readFileSync(file, 'utf8')}# mine\n`;
  writeFileSync(file, edited);
  expect(await installService({ env: m.env, platform: 'linux', origin: OTHER })).toEqual({ state: 'changed by hand', file });
  expect(await removeService({ env: m.env, platform: 'linux' })).toEqual({ file, removed: false });
  expect(readFileSync(file, 'utf8')).toBe(edited);
});

test('removal deletes the unit, and a second removal finds nothing to delete', async () => {
  const m = machine('systemctl');
  await installService({ env: m.env, platform: 'linux', origin: ORIGIN });
  expect(await removeService({ env: m.env, platform: 'linux' })).toEqual({ file: join(m.home, UNIT), removed: true });
  expect(m.calls().slice(-2)).toEqual(['--user disable --now covibe-watch.service', '--user daemon-reload']);
  expect(existsSync(join(m.home, UNIT))).toBe(false);
  expect(await removeService({ env: m.env, platform: 'linux' })).toBeUndefined();
});

test('escapes the characters that systemd would interpret in a command line', () => {
  const text = initSystemOf('linux')?.text({ program: '/opt/my node', args: ['/a "b"\\c', '$HOME', '100%'], env: {} });
  expect(text).toContain('ExecStart="/opt/my node" "/a \\"b\\"\\\\c" "$$HOME" "100%%"\n');
});

/** A value that contains every character with a meaning in a unit file or a plist. */
const ODD = '/a "b"\\c/$HOME/100%/<d>&\ne';
const PLACES = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'CODEX_SQLITE_HOME'];

test.each([
  ['systemctl', 'linux', (name: string) => `\nEnvironment="${name}=/a \\"b\\"\\\\c/$HOME/100%%/<d>&\\ne"\n`],
  ['launchctl', 'darwin', (name: string) => `<key>${name}</key>\n    <string>/a "b"\\c/$HOME/100%/&lt;d&gt;&amp;\ne</string>`],
] as const)('under %s the service gets the folders where agents keep their usage, and no token', async (program, platform, entry) => {
  const m = machine(program);
  const places = Object.fromEntries(PLACES.map((name) => [name, ODD]));
  const env = {
    ...m.env,
    ...places,
    XDG_CONFIG_HOME: join(m.home, 'settings'),
    COVIBE_SELF_UPDATE: '1',
    COVIBE_MCP_TOKEN: 'cv_secret',
    CODEX_API_KEY: 'sk_secret',
  };
  const installed = await installService({ env, platform, origin: ORIGIN });
  const text = readFileSync('file' in installed ? installed.file : '', 'utf8');
  for (const name of PLACES) expect(text).toContain(entry(name));
  for (const name of ['XDG_CONFIG_HOME', 'COVIBE_SELF_UPDATE']) expect(text).toContain(name);
  expect(text).not.toMatch(/secret/);
  expect(await serviceState({ env, platform })).toMatchObject({ origin: ORIGIN });
});

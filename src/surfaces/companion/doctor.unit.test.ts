import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closedOrigin } from '../../testing/programs/bridge.ts';
import { testMachine } from '../../testing/programs/companion.ts';
import { temporaryRepository } from '../../testing/scenes/repository.ts';
import { createOutput } from '../cli/output.ts';
import { reportSetup, runSetupCheck, type SetupCheck } from './doctor.ts';
import { hooksFolder } from './guard/install.ts';
import { noteSetup, writeWatchStatus } from './state.ts';

/** A machine with a repository whose agents were set up. Their server is unreachable. */
async function services() {
  const [machine, repository, origin] = [testMachine({ systemd: false }), temporaryRepository(), await closedOrigin()];
  noteSetup(machine.env, repository.path, { origin, hooks: 'command', clients: ['claude-code'] });
  const checks = async (of: string): Promise<readonly SetupCheck[]> => {
    const out = createOutput({}, process.stdout, process.stderr);
    const { json } = await reportSetup({ env: machine.env, cwd: repository.path, json: true, out, values: {}, positionals: [] });
    return (json.items as readonly SetupCheck[]).filter(({ check }) => check === of);
  };
  return { machine, repository, origin, checks };
}

test('doctor reports a watcher that reports to another server', async () => {
  const { machine, origin, checks } = await services();
  const status = { pid: 1, version: '1', last_sync_at: Date.now(), sent: 1, waiting: 0, problem: null };
  writeWatchStatus(machine.env, { ...status, origin });
  expect(await checks('watch')).toMatchObject([{ state: 'ok' }]);
  const other = 'https://other.example';
  writeWatchStatus(machine.env, { ...status, origin: other });
  expect(await checks('watch')).toMatchObject([
    { state: 'open', message: `watch reports to ${other}; to report to ${origin}, run covibe-local watch --base-url ${origin}` },
  ]);
  // The problem of that watcher with the other server must not be reported for this server.
  writeWatchStatus(machine.env, { ...status, origin: other, last_sync_at: null, problem: 'server unreachable' });
  expect(await checks('watch')).toMatchObject([{ state: 'open', message: expect.stringMatching(/^watch is not running; start it with /) }]);
});

test('reports a folder in place of a git hook, with the fix', async () => {
  const { repository, checks } = await services();
  const hook = join(await hooksFolder(repository.path), 'pre-commit');
  rmSync(hook, { force: true });
  mkdirSync(hook, { recursive: true });
  expect(await checks('guard')).toEqual([
    {
      check: 'guard',
      state: 'failed',
      message: `the git hook ${hook} cannot be read (EISDIR)`,
      fix: 'repair the hook or move it away, then run covibe-local doctor',
    },
  ]);
  expect(await checks('server')).toHaveLength(1);
});

test('reports a folder in place of the systemd unit as a separate finding, and still shows the other findings', async () => {
  const { machine, checks } = await services();
  const unit = join(machine.home, '.config/systemd/user/covibe-watch.service');
  mkdirSync(unit, { recursive: true });
  writeFileSync(join(machine.env.PATH?.split(':')[0] ?? '', 'systemctl'), '#!/bin/sh\n', { mode: 0o755 });
  expect(await checks('watch')).toEqual([
    { check: 'watch', state: 'failed', message: `${unit} cannot be read (EISDIR).`, fix: 'Fix the file or move it away, then run this again.' },
  ]);
  expect(await checks('bridge')).toHaveLength(1);
});

test('reports a check that cannot run as a finding with the path and the fix', async () => {
  const fix = 'make the file readable or move it away, then run covibe-local doctor';
  expect(await runSetupCheck('files', () => readdirSync('/nowhere') as never)).toEqual([
    { check: 'files', state: 'failed', message: 'the files check failed: /nowhere cannot be read (ENOENT)', fix },
  ]);
  expect(await runSetupCheck('bridge', () => Promise.reject(new TypeError()))).toEqual([
    { check: 'bridge', state: 'failed', message: 'the bridge check failed (TypeError)', fix },
  ]);
});

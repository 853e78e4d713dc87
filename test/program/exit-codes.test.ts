import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BRIDGE_EXITS } from '../../src/surfaces/cli/bridge-help.ts';
import { EXITS } from '../../src/surfaces/cli/run.ts';
import { EXITS as COMPANION_EXITS } from '../../src/surfaces/companion/run.ts';
import { companionScene } from '../../src/testing/programs/companion-scene.ts';
import { covenantProcess, ROOT } from '../../src/testing/programs/program.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

const reference = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');

/** Checks that the test has a command line for each documented exit code of a program, and that the command line ended with this code. */
function expectNamed(exits: Readonly<Record<number, string>>, ended: Readonly<Record<number, number | null>>) {
  expect(Object.keys(ended)).toEqual(Object.keys(exits));
  for (const [named, code] of Object.entries(ended)) expect(code).toBe(Number(named));
  for (const [code, meaning] of Object.entries(exits)) expect(reference).toContain(`\`${code}\` ${meaning}`);
}

test('covenant ends with 0 if done, 1 if refused, and 2 if called wrongly [use.cli.exit-codes]', async () => {
  const at = { home: temporaryFolder() };
  const code = async (...args: string[]) => (await covenantProcess(at, ...args)).code;
  expectNamed(EXITS, { 0: await code('status'), 1: await code('tokens', 'revoke', 'nothing'), 2: await code('tokens', 'revoke') });
  for (const wrong of [['tokens'], ['nope'], ['tokens', 'list', '--nope'], ['help', 'nope']]) expect([wrong, await code(...wrong)]).toEqual([wrong, 2]);
  for (const wrong of ['audit export --anchor --category work', 'usage --by day --by agent'])
    expect([wrong, await code(...wrong.split(' '))]).toEqual([wrong, 2]);
  for (const asked of [['tokens', 'list', '-hh'], [], ['--help'], ['help', 'tokens'], ['--version'], ['-v']])
    expect([asked, await code(...asked)]).toEqual([asked, 0]);
});

test('covibe-local ends with 3 if the guard denies, and a hook that is called wrongly ends with 1 [use.cli.exit-codes]', async () => {
  const { machine, repository, ben, claim, traffic } = await companionScene();
  const code = async (...args: string[]) => (await machine.run(repository.path, args)).code;
  const check = ['guard', 'check', 'pre-commit', '--base-url', traffic.url];
  const allowed = await code(...check);
  await claim(ben, 'keys.ts');
  repository.write('keys.ts', 'x');
  repository.git(['add', 'keys.ts']);
  expectNamed(COMPANION_EXITS, {
    0: allowed,
    1: (await machine.run(temporaryFolder(), ['doctor'])).code,
    2: await code('guard', 'check'),
    3: await code(...check),
  });
  for (const words of [['hook'], ['hook', 'nobody', 'nothing'], ['--json', 'hook', 'codex', 'stop', '--bogus']])
    expect([words, await code(...words)]).toEqual([words, 1]);
});

test('covibe-mcp ends with 0 when its input ends, and 1 if a setting is wrong [use.cli.exit-codes]', () => {
  const ended = (env: Record<string, string>, ...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'dist/bin/covibe-mcp.js'), ...args], { env: { HOME: temporaryFolder(), ...env }, input: '', encoding: 'utf8' });
  expectNamed(BRIDGE_EXITS, { 0: ended({}).status, 1: ended({ COVIBE_TIMEOUT_MS: 'soon' }).status });
  expect(ended({}, '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('COVIBE_BASE_URL') });
  expect(ended({}, '-v')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

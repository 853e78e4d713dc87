import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestApp, TestCaller } from '../../src/testing/app.ts';
import { type TestMachine, testMachine } from '../../src/testing/programs/companion.ts';
import { type CompanionScene, companionScene, storeTokens } from '../../src/testing/programs/companion-scene.ts';
import type { Traffic } from '../../src/testing/stand-ins/traffic.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';

const IDENTITY = { GIT_AUTHOR_NAME: 'Ana', GIT_AUTHOR_EMAIL: 'ana@x', GIT_COMMITTER_NAME: 'Ana', GIT_COMMITTER_EMAIL: 'ana@x', GIT_CONFIG_NOSYSTEM: '1' };

interface Guarded extends CompanionScene {
  /** Runs git as Ana. If `env` contains the variables of an agent's program, git runs as her agent. */
  git(args: readonly string[], env?: Record<string, string>): Promise<{ code: number; said: string }>;
  guard(...args: string[]): ReturnType<TestMachine['run']>;
}

async function guarded({ install = true } = {}): Promise<Guarded> {
  const parts = await companionScene();
  const { machine, repository, traffic } = parts;
  const guard: Guarded['guard'] = (...args) => machine.run(repository.path, ['guard', ...args, ...(args[0] === 'remove' ? [] : ['--base-url', traffic.url])]);
  if (install) expect((await guard('install')).code).toBe(0);
  return {
    ...parts,
    guard,
    git: (args, env = {}) =>
      new Promise((resolve) => {
        execFile('git', ['-C', repository.path, ...args], { env: { ...machine.env, ...IDENTITY, ...env } }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, said: `${stdout}${stderr}` }),
        );
      }),
  };
}

const release = (t: TestApp, caller: TestCaller, id: string) => t.tool('covibe_coordination', { operation: 'release', claim_id: id }, caller);
const asked = ({ sent }: Traffic) => JSON.parse(sent.at(-1)?.split('\n')[2] ?? '{}') as Record<string, unknown>;

it('refuses to commit a file that another agent has claimed, with owner, reason and next step, and allows it after the release', async () => {
  const { t, repository, ben, git, traffic, claim } = await guarded();
  const id = await claim(ben, 'keys.ts');
  repository.write('keys.ts', 'CANARY');
  repository.git(['add', 'keys.ts']);
  const refused = await git(['commit', '-m', 'Keys CANARY']);
  expect(refused.code).toBe(1);
  expect(refused.said).toMatch(
    /This commit was not made\. keys\.ts: claimed .* by ben until .*rotating the keys.*--no-verify\. Only a person may decide that/s,
  );
  await release(t, ben, id);
  expect(await git(['commit', '-m', 'Keys'])).toMatchObject({ code: 0 });
  expect(asked(traffic)).toMatchObject({ person: true, repo: 'app', edits: [{ repo: 'app', path: 'keys.ts' }] });
  expect(traffic.sent.join()).not.toContain('CANARY');
});

it('checks files that a commit deletes, renames or takes from the working tree without git add', async () => {
  const { repository, ben, git, guard, claim } = await guarded({ install: false });
  repository.commit('gone.ts', 'some text that is long enough to be followed\n');
  repository.commit('edited.ts', 'x');
  await guard('install');
  await claim(ben, 'gone.ts');
  repository.git(['mv', 'gone.ts', 'new.ts']);
  expect((await git(['commit', '-m', 'x'])).said).toContain('gone.ts: claimed');
  repository.git(['reset', '--hard', '--quiet']);
  await claim(ben, 'edited.ts');
  repository.write('edited.ts', 'y');
  expect((await git(['commit', '-am', 'x'])).said).toContain('edited.ts: claimed');
  expect((await git(['commit', '-m', 'x', '--', 'edited.ts'])).said).toContain('edited.ts: claimed');
});

it('checks only what a merge itself changes, not what the other side committed', async () => {
  const { repository, ben, git, claim } = await guarded();
  for (const [branch, text] of [
    ['theirs', 'their line\n'],
    ['main', 'our line\n'],
  ] as const) {
    repository.git(branch === 'main' ? ['checkout', '--quiet', 'main'] : ['checkout', '--quiet', '-b', branch]);
    repository.write('both.ts', text);
    if (branch === 'theirs') repository.write('keys.ts', 'x');
    repository.git(['add', '.']);
    repository.git(['commit', '--quiet', '--no-verify', '-m', branch]);
  }
  await claim(ben, 'keys.ts');
  expect((await git(['merge', 'theirs'])).code).toBe(1);
  repository.write('both.ts', 'resolved\n');
  repository.git(['add', 'both.ts']);
  repository.write('keys.ts', 'changed in passing');
  repository.git(['add', 'keys.ts']);
  expect((await git(['commit', '-m', 'merge'])).said).toContain('keys.ts: claimed');
  repository.write('keys.ts', 'x');
  repository.git(['add', 'keys.ts']);
  expect(await git(['commit', '-m', 'merge'])).toMatchObject({ code: 0 });
});

it("an agent, recognized by its program's variables, commits as itself; a person commits as the owner of all their agents' claims", async () => {
  const { t, machine, repository, ana, git, traffic, claim } = await guarded();
  const codex = await t.developer('ana', 'codex');
  await claim(codex, 'a.ts');
  repository.write('a.ts', 'x');
  repository.git(['add', 'a.ts']);
  storeTokens(machine, { codex: codex.token, 'claude-code': ana.token });
  expect((await git(['commit', '-m', 'x'], { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'run-1' })).code).toBe(1);
  expect(asked(traffic)).not.toHaveProperty('person');
  await claim(ana, 'b.ts');
  expect((await git(['commit', '-m', 'x'])).code).toBe(0);
});

it('an agent without a token is checked as its developer, with a note; a machine without tokens is not checked', async () => {
  const { t, machine, repository, ana, ben, git, traffic, claim } = await guarded();
  const commit = (file: string) => {
    repository.write(file, `${Math.random()}`);
    repository.git(['add', file]);
    return git(['commit', '-m', 'x', '--', file], { COVIBE_AGENT: 'other' });
  };
  await claim(ben, 'keys.ts');
  const refused = await commit('keys.ts');
  expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('keys.ts: claimed')]);
  await claim(ana, 'a.ts');
  const passed = await commit('a.ts');
  expect([passed.code, passed.said]).toEqual([
    0,
    expect.stringMatching(/as if the developer had made it, because other has no token.*next: run covibe-local setup/s),
  ]);
  expect(asked(traffic)).toMatchObject({ person: true });

  // The machine has stored the setting "fail closed" for a token that is removed now. This must not block commits.
  await t.done('settings.set', { key: 'hooks.fail_closed', value: 'on' });
  expect((await commit('a.ts')).code).toBe(0);
  await t.done('settings.set', { key: 'hooks.fail_closed', value: 'off' });
  storeTokens(machine, {});
  const unchecked = await commit('a.ts');
  expect([unchecked.code, unchecked.said]).toEqual([0, expect.stringMatching(/not checked .*No token of other .*next: Run .covibe-local setup/s)]);
});

it('checks every file of a commit with many files', async () => {
  const { repository, ben, git, traffic, claim } = await guarded();
  await claim(ben, 'many/0500.ts');
  for (let at = 0; at <= 500; at++) repository.write(`many/${String(at).padStart(4, '0')}.ts`, '');
  repository.git(['add', 'many']);
  expect((await git(['commit', '-m', 'x'])).said).toContain('many/0500.ts: claimed');
  expect(traffic.sent.length).toBe(2);
});

it('reports paths that are too long and commits beyond the limit as unchecked', async () => {
  const { repository, git } = await guarded();
  const folders = Array.from({ length: 3 }, () => 'f'.repeat(200)).join('/');
  repository.write(`${folders}/a.ts`, 'x');
  repository.git(['add', '.']);
  const committed = await git(['commit', '-m', 'x']);
  expect([committed.code, committed.said]).toEqual([0, expect.stringMatching(/1 file .*longer than 500 characters.* not checked/)]);

  const remote = join(temporaryFolder(), 'remote.git');
  execFileSync('git', ['init', '--quiet', '--bare', remote]);
  repository.git(['remote', 'add', 'origin', remote]);
  const commits = Array.from(
    { length: 2_001 },
    (_, at) => `commit refs/heads/long\ncommitter Ana <ana@x> ${at} +0000\ndata 0\nM 644 inline ${at % 9}.ts\ndata 1\nx\n`,
  );
  execFileSync('git', ['-C', repository.path, 'fast-import', '--quiet'], { input: commits.join('') });
  const pushed = await git(['push', '--quiet', 'origin', 'long']);
  expect([pushed.code, pushed.said]).toEqual([0, expect.stringMatching(/newest 2000 commits/)]);
  expect((await git(['push', '--quiet', 'origin', 'long~1:refs/heads/shorter'])).said).not.toContain('newest');
});

it('refuses a push because of changes in its commits; for a new branch, it checks the commits that no remote has', async () => {
  const { t, repository, ben, git, traffic, claim } = await guarded();
  const remote = join(temporaryFolder(), 'remote.git');
  execFileSync('git', ['init', '--quiet', '--bare', remote]);
  repository.git(['remote', 'add', 'origin', remote]);
  expect(await git(['push', '--quiet', 'origin', 'main'])).toMatchObject({ code: 0 });
  expect(asked(traffic).edits).toEqual([{ repo: 'app', path: 'file-0.txt' }]);
  const id = await claim(ben, 'keys.ts');
  repository.git(['checkout', '--quiet', '-b', 'topic']);
  repository.git(['-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '--allow-empty', '-m', 'nothing']);
  repository.write('keys.ts', 'x');
  repository.git(['add', 'keys.ts']);
  repository.git(['commit', '--quiet', '--no-verify', '-m', 'keys']);
  const refused = await git(['push', '--quiet', 'origin', 'topic']);
  expect(refused.code).toBe(1);
  expect(refused.said).toMatch(/This push was not made\. keys\.ts: claimed/);
  expect(asked(traffic).edits).toEqual([{ repo: 'app', path: 'keys.ts' }]);
  await release(t, ben, id);
  expect(await git(['push', '--quiet', 'origin', 'topic'])).toMatchObject({ code: 0 });
  // A push that deletes a branch is not checked, because it changes no files.
  const before = traffic.sent.length;
  expect(await git(['push', '--quiet', 'origin', ':topic'])).toMatchObject({ code: 0 });
  expect(traffic.sent.length).toBe(before);
});

it('refuses a push because of changes that its merge commits made themselves', async () => {
  const { repository, ben, git, claim } = await guarded();
  const remote = join(temporaryFolder(), 'remote.git');
  execFileSync('git', ['init', '--quiet', '--bare', remote]);
  repository.git(['remote', 'add', 'origin', remote]);
  repository.git(['checkout', '--quiet', '-b', 'theirs']);
  const commit = (file: string, ...args: string[]) => {
    repository.write(file, file);
    repository.git(['add', '.']);
    repository.git(['commit', '--quiet', '--no-verify', '-m', file, ...args]);
  };
  commit('theirs.ts');
  repository.git(['checkout', '--quiet', 'main']);
  commit('ours.ts');
  repository.git(['merge', '--quiet', '--no-commit', 'theirs']);
  commit('keys.ts');
  await claim(ben, 'keys.ts');
  const refused = await git(['push', '--quiet', 'origin', 'main']);
  expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('keys.ts: claimed')]);
});

it('runs an existing hook first, with its name, arguments and stdin, and stops if it fails; installing twice changes nothing; remove restores it', async () => {
  const { repository, git, guard, traffic } = await guarded({ install: false });
  const hooks = join(repository.path, '.git/hooks');
  const own = `#!/bin/sh -e\necho "own $(basename "$0") $*"\ncat > "$(dirname "$0")/stdin"\nexit \${OWN:-0}\n`;
  for (const name of ['pre-commit', 'pre-push']) writeFileSync(join(hooks, name), own, { mode: 0o744 });
  for (const name of ['pre-commit', 'pre-push']) chmodSync(join(hooks, name), 0o744);
  const before = look(hooks);
  const installed = await guard('install');
  expect(installed.stdout).toContain('your own hook runs first');
  const after = look(hooks);
  expect((await guard('install')).stdout).toContain('already installed');
  expect(look(hooks)).toEqual(after);

  repository.write('a.ts', 'x');
  repository.git(['add', 'a.ts']);
  const failed = await git(['commit', '-m', 'x'], { OWN: '3' });
  expect([failed.code, traffic.sent.length]).toEqual([1, 0]);
  const made = await git(['commit', '-m', 'x']);
  expect([made.code, traffic.sent.length]).toEqual([0, 1]);
  expect(made.said).toContain('own pre-commit');
  const remote = join(temporaryFolder(), 'remote.git');
  execFileSync('git', ['init', '--quiet', '--bare', remote]);
  const pushed = await git(['push', '--quiet', remote, 'main']);
  expect([pushed.code, traffic.sent.length]).toEqual([0, 2]);
  expect(pushed.said).toContain(`own pre-push ${remote} ${remote}`);
  expect(readFileSync(join(hooks, 'stdin'), 'utf8')).toBe(`refs/heads/main ${repository.git(['rev-parse', 'main'])} refs/heads/main ${'0'.repeat(40)}\n`);

  execFileSync('rm', [join(hooks, 'stdin')]);
  expect((await guard('remove')).stdout).toContain('your own hook is restored');
  expect(look(hooks)).toEqual(before);
  expect((await guard('remove')).stdout).toContain('not installed');
});

it("follows git's and husky's configured hooks folder, also from a linked worktree", async () => {
  const { repository, machine, guard, git } = await guarded({ install: false });
  const husky = join(repository.path, '.husky/_');
  mkdirSync(husky, { recursive: true });
  // A hook as husky writes it. It uses its own file name to find the script to run.
  writeFileSync(
    join(husky, 'h'),
    '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\nexit $?\n',
  );
  writeFileSync(join(husky, 'pre-commit'), '#!/usr/bin/env sh\n. "$(dirname "$0")/h"');
  chmodSync(join(husky, 'pre-commit'), 0o755);
  writeFileSync(join(repository.path, '.husky/pre-commit'), 'echo from husky\n');
  repository.git(['config', 'core.hooksPath', '.husky/_']);
  expect((await guard('install')).stdout).toContain('is in the working tree');
  repository.write('a.ts', 'x');
  repository.git(['add', 'a.ts']);
  expect((await git(['commit', '-m', 'x'])).said).toContain('from husky');
  expect(existsSync(join(repository.path, '.git/hooks/pre-commit'))).toBe(false);
  // When npm installs packages, husky writes its hooks again.
  writeFileSync(join(husky, 'pre-commit'), '#!/usr/bin/env sh\n. "$(dirname "$0")/h"');
  expect((await guard('install')).code).toBe(0);
  await guard('remove');
  repository.git(['config', '--unset', 'core.hooksPath']);

  const linked = join(temporaryFolder(), 'linked');
  repository.git(['worktree', 'add', '--quiet', linked]);
  const plain = await machine.run(linked, ['guard', 'install']);
  expect(plain.stdout).not.toContain('core.hooksPath');
  expect(statSync(join(repository.path, '.git/hooks/pre-commit')).mode & 0o111).toBe(0o111);

  const shared = join(machine.home, 'hooks');
  repository.git(['config', 'core.hooksPath', shared]);
  expect((await guard('install')).stdout).toContain(`core.hooksPath is ${shared}: the guard now runs in every repository`);
});

it('reports disabled or broken hooks folders with the fix', async () => {
  const { repository, guard } = await guarded({ install: false });
  const refused = async (said: RegExp) => {
    for (const command of ['install', 'remove']) {
      const ran = await guard(command);
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringMatching(said)]);
    }
  };
  const hook = join(repository.path, '.git/hooks/pre-push');
  symlinkSync('nowhere', hook);
  await refused(/hooks\/pre-push cannot be read \(ENOENT\)\. Nothing was changed\..*next: Fix its permissions or delete it/s);
  expect(readdirSync(join(repository.path, '.git/hooks'))).not.toContain('pre-commit');
  repository.git(['config', 'core.hooksPath', '/dev/null']);
  await refused(/\/dev\/null is not a folder.*Nothing was changed\..*next: .*core\.hooksPath/s);
});

it('neither overwrites nor removes a guard that someone has changed', async () => {
  const { repository, guard } = await guarded();
  const hook = join(repository.path, '.git/hooks/pre-commit');
  writeFileSync(hook, `${readFileSync(hook, 'utf8')}echo mine\n`);
  const before = look(join(repository.path, '.git/hooks'));
  const again = await guard('install');
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('someone has changed it since')]);
  expect(look(join(repository.path, '.git/hooks'))).toEqual(before);
  expect((await guard('remove')).stdout).toContain('was not removed');
  expect(readFileSync(hook, 'utf8')).toContain('echo mine');
});

it('while the server is unreachable, commits continue with a note that they were not checked; with fail-closed they are blocked', async () => {
  const { t, traffic, repository, git } = await guarded();
  const commit = () => {
    repository.write('a.ts', `${Math.random()}`);
    repository.git(['add', 'a.ts']);
    return git(['commit', '--quiet', '-m', 'x']);
  };
  await t.done('settings.set', { key: 'hooks.fail_closed', value: 'on' });
  expect((await commit()).code).toBe(0);
  traffic.down = true;
  const waits = await commit();
  expect(waits.code).toBe(1);
  expect(waits.said).toMatch(/is not reachable.*covenant up.*hooks\.fail_closed off.*--no-verify/s);
  traffic.down = false;
  await t.done('settings.set', { key: 'hooks.fail_closed', value: 'off' });
  expect((await commit()).code).toBe(0);
  traffic.down = true;
  const passed = await commit();
  expect(passed.code).toBe(0);
  expect(passed.said).toMatch(/not checked .*is not reachable.*next: start the server with .covenant up/s);
});

it('without covibe-local a commit passes with a note; if it is only not on the PATH, the guard finds its file', async () => {
  const { repository, git, ben, claim } = await guarded();
  await claim(ben, 'a.ts');
  repository.write('a.ts', 'x');
  repository.git(['add', 'a.ts']);
  const bin = temporaryFolder();
  for (const name of ['git', 'sh', 'dirname', 'basename', 'cat'])
    symlinkSync(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), join(bin, name));
  expect((await git(['commit', '-m', 'x'], { PATH: bin })).said).toContain('a.ts: claimed');
  // If the program cannot start or fails, the commit must not be denied.
  writeFileSync(join(bin, 'covibe-local'), '#!/bin/sh\necho Cannot find module >&2\nexit 1\n', { mode: 0o755 });
  const failed = await git(['commit', '-m', 'x', '--allow-empty'], { PATH: bin });
  expect([failed.code, failed.said]).toEqual([0, expect.stringMatching(/covibe-local failed: this commit was not checked.*next: run covibe-local doctor/s)]);
  rmSync(join(bin, 'covibe-local'));
  repository.write('a.ts', 'y');
  repository.git(['add', 'a.ts']);
  for (const name of ['pre-commit', 'pre-push']) {
    const hook = join(repository.path, '.git/hooks', name);
    writeFileSync(hook, readFileSync(hook, 'utf8').replaceAll(/covibe-local\.ts/g, 'gone.ts'));
  }
  const passed = await git(['commit', '-m', 'x'], { PATH: bin });
  expect([passed.code, passed.said]).toEqual([0, expect.stringContaining('covibe-local is not installed: this commit was not checked')]);
});

it('outside a repository, reports that there is none and changes nothing', async () => {
  const machine = testMachine();
  const ran = await machine.run(temporaryFolder(), ['guard', 'install']);
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('is not in a git repository')]);
});

/** Returns the names, contents and modes of all files in the folder. */
function look(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, `${statSync(join(folder, name)).mode} ${readFileSync(join(folder, name), 'base64')}`]));
}

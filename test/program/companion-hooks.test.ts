import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestMachine } from '../../src/testing/programs/companion.ts';
import { type CompanionScene, companionScene, storeTokens } from '../../src/testing/programs/companion-scene.ts';

const SECRETS = { prompt: 'CANARY-PROMPT', content: 'CANARY-CONTENT', command: 'CANARY-COMMAND', answer: 'CANARY-ANSWER' };

interface HookScene extends CompanionScene {
  /** Runs `covibe-local hook` with a payload as a client sends it, by default Claude Code. */
  hook(event: string, native: object, more?: { client?: string; env?: Record<string, string> }): ReturnType<TestMachine['run']>;
}

async function scene(): Promise<HookScene> {
  const parts = await companionScene();
  const { machine, repository, traffic } = parts;
  return {
    ...parts,
    hook: (event, native, { client = 'claude-code', env } = {}) =>
      machine.run(
        repository.path,
        ['hook', client, event, '--base-url', traffic.url],
        env,
        JSON.stringify({ session_id: 'run-1', cwd: repository.path, hook_event_name: event, ...native }),
      ),
  };
}

const write = (path: string) => ({ tool_name: 'Write', tool_input: { file_path: path, content: SECRETS.content } });
const bearer = (request: string | undefined) => /"authorization":"Bearer ([^"]+)"/.exec(request ?? '')?.[1];

it("denies an edit of a file that another agent has claimed, in the client's format, with owner, reason and next step", async () => {
  const { repository, ben, hook, claim } = await scene();
  await claim(ben, 'src/keys.ts');
  const { stdout, code } = await hook('before-tool', write(join(repository.path, 'src/keys.ts')));
  expect(code).toBe(0);
  const { hookSpecificOutput } = JSON.parse(stdout);
  expect(hookSpecificOutput).toMatchObject({ hookEventName: 'PreToolUse', permissionDecision: 'deny' });
  expect(hookSpecificOutput.permissionDecisionReason).toMatch(/src\/keys\.ts.*by ben until.*rotating the keys/s);
  // The edit is also denied if it is made with a shell command, from a folder inside the repository, or by another client.
  repository.write('src/other.ts', '');
  const shell = await hook('before-tool', { tool_name: 'run_shell_command', tool_input: { command: 'cd src && echo x > keys.ts' } }, { client: 'gemini' });
  expect(JSON.parse(shell.stdout)).toMatchObject({ decision: 'deny', reason: expect.stringContaining('src/keys.ts') });
  expect((await hook('before-tool', write(join(repository.path, 'src/other.ts')))).stdout).toBe('');
});

it("Cursor, which runs Claude Code's hooks besides its own, is checked once", async () => {
  const { traffic, repository, hook } = await scene();
  const payload = { ...write(join(repository.path, 'a.txt')), cursor_version: '3.1.0' };
  const ran = await hook('before-tool', payload);
  expect([ran.code, ran.stdout, ran.stderr, traffic.sent.length]).toEqual([0, '', '', 0]);
  await hook('before-tool', payload, { client: 'cursor' });
  expect(traffic.sent.length).toBe(1);
});

it('without COVIBE_MCP_TOKEN a hook uses the stored token that COVIBE_AGENT selects [companion.hooks.token-from-credentials]', async () => {
  const { machine, traffic, ana, hook } = await scene();
  const other = 'cv_of_another_agent';
  storeTokens(machine, { 'claude-code': ana.token, reviewer: other });
  await hook('prompt', {}, { env: { COVIBE_AGENT: 'reviewer' } });
  expect(bearer(traffic.sent.at(-1))).toBe(other);
  await hook('prompt', {});
  expect(bearer(traffic.sent.at(-1))).toBe(ana.token);
  await hook('prompt', {}, { env: { COVIBE_AGENT: 'reviewer', COVIBE_MCP_TOKEN: 'cv_of_the_environment' } });
  expect(bearer(traffic.sent.at(-1))).toBe('cv_of_the_environment');
  writeFileSync(join(machine.home, '.covibe/credentials.json'), JSON.stringify({ origin: 'https://elsewhere.example', tokens: { 'claude-code': ana.token } }));
  await hook('prompt', {});
  expect(bearer(traffic.sent.at(-1))).toBeUndefined();
});

it('a hook in a repository adds its main checkout to ~/.covibe/repos.json [companion.repos.registered-by-activity]', async () => {
  const { machine, repository, hook } = await scene();
  const linked = join(repository.path, '..', 'linked');
  repository.git(['worktree', 'add', '--quiet', linked]);
  await hook('after-tool', { cwd: linked, tool_name: 'Read' });
  const { repos } = JSON.parse(readFileSync(join(machine.home, '.covibe/repos.json'), 'utf8'));
  expect(repos).toEqual([{ path: repository.path, repo: 'app', last_active_at: expect.any(Number) }]);
});

it('prompts, answers, commands and contents in payloads are neither sent nor stored [companion.privacy.content-stays-local]', async () => {
  const { t, traffic, repository, hook } = await scene();
  const file = join(repository.path, 'a.txt');
  repository.write('a.txt', SECRETS.content);
  await hook('session-start', { source: 'startup', transcript_path: '/nowhere/CANARY-TRANSCRIPT.jsonl' });
  await hook('prompt', { prompt: SECRETS.prompt });
  await hook('before-tool', write(file));
  await hook('before-tool', { tool_name: 'Bash', tool_input: { command: `echo ${SECRETS.command} > a.txt` } });
  await hook('after-tool', { ...write(file), tool_response: { content: SECRETS.content } });
  await hook('stop', { last_assistant_message: SECRETS.answer });
  const ended = await hook('session-end', { reason: 'other' });
  expect(ended.code).toBe(0);
  expect(traffic.sent.length).toBe(7);
  expect(traffic.sent.filter((request) => request.includes('"path":"a.txt"')).length).toBe(2);
  const database = readdirSync(t.database.home).map((name) => readFileSync(join(t.database.home, name), 'latin1'));
  for (const seen of [...traffic.sent, ...t.logged, ...database, JSON.stringify(await t.events())]) expect(seen).not.toContain('CANARY');
});

it('the stop hook reports uncommitted and unpushed work without running a program of the repository', async () => {
  const { machine, traffic, repository, hook } = await scene();
  const remote = join(repository.path, '..', 'remote.git');
  execFileSync('git', ['init', '--quiet', '--bare', remote]);
  repository.git(['remote', 'add', 'origin', remote]);
  repository.git(['push', '--quiet', 'origin', 'main']);
  repository.commit('not-pushed.txt', 'x');
  const trap = join(machine.home, 'trap');
  repository.git(['config', 'core.fsmonitor', `touch ${trap}`]);
  repository.git(['config', 'filter.trap.clean', `touch ${trap}; cat`]);
  repository.write('.gitattributes', '* filter=trap\n');
  repository.write('ünicode "name".txt', 'x');
  repository.write('file-0.txt', 'changed');
  await hook('stop', {});
  const asked = JSON.parse(traffic.sent.at(-1)?.split('\n')[2] ?? '');
  expect(asked).toMatchObject({ unpushed_commits: 1, unpushed_files: ['not-pushed.txt'], repo: 'app', branch: 'main' });
  expect(asked.dirty_files.sort()).toEqual(['.gitattributes', 'file-0.txt', 'ünicode "name".txt']);
  expect(existsSync(trap)).toBe(false);
  const without = await hook('stop', {}, { env: { PATH: machine.home } });
  expect([without.code, JSON.parse(traffic.sent.at(-1)?.split('\n')[2] ?? '').dirty_files]).toEqual([0, undefined]);
});

it('while the server cannot be reached the agent continues, and its user is notified once in each run', async () => {
  const { traffic, repository, hook } = await scene();
  traffic.down = true;
  const first = await hook('before-tool', write(join(repository.path, 'a.txt')));
  expect(first.code).toBe(0);
  expect(JSON.parse(first.stdout)).toEqual({ systemMessage: expect.stringMatching(/is not reachable.*continues without Covenant.*covibe-local doctor/s) });
  const second = await hook('after-tool', write(join(repository.path, 'a.txt')));
  expect([second.code, second.stdout, second.stderr]).toEqual([0, '', '']);
  const another = await hook('prompt', { session_id: 'run-2' });
  expect(another.stdout).toContain('is not reachable');
});

it('with fail-closed, edits are blocked once the setting is known; tools that write nothing continue', async () => {
  const { t, traffic, repository, hook } = await scene();
  await t.done('settings.set', { key: 'hooks.fail_closed', value: 'on' });
  await hook('session-start', { source: 'startup' });
  traffic.down = true;
  const edit = await hook('before-tool', write(join(repository.path, 'a.txt')));
  const denied = JSON.parse(edit.stdout).hookSpecificOutput;
  expect(denied).toMatchObject({ permissionDecision: 'deny' });
  expect(denied.permissionDecisionReason).toMatch(/covenant up.*covenant settings set hooks\.fail_closed off/s);
  expect((await hook('before-tool', { tool_name: 'Read', tool_input: { file_path: 'a.txt' } })).stdout).toBe('');
  traffic.down = false;
  await t.done('settings.set', { key: 'hooks.fail_closed', value: 'off' });
  await hook('prompt', {});
  traffic.down = true;
  expect((await hook('before-tool', write(join(repository.path, 'a.txt')))).stdout).toBe('');
});

it('with fail-closed, a rejected token blocks edits too', async () => {
  const { t, ana, repository, hook } = await scene();
  await t.done('settings.set', { key: 'hooks.fail_closed', value: 'on' });
  await hook('session-start', { source: 'startup' });
  await t.done('tokens.revoke', { token_id: ana.tokenId });
  const { hookSpecificOutput, systemMessage } = JSON.parse((await hook('before-tool', write(join(repository.path, 'a.txt')))).stdout);
  expect(hookSpecificOutput.permissionDecisionReason).toMatch(/refused the request.*does not accept the token.*covibe-local setup/s);
  expect(systemMessage).toMatch(/does not accept the token of claude-code.*Edits are blocked/s);
});

it('a rejected token, a broken payload or a wrong call of a hook never blocks an agent', async () => {
  const { machine, traffic, repository, hook } = await scene();
  storeTokens(machine, { 'claude-code': 'cv_revoked' });
  const refused = await hook('before-tool', write(join(repository.path, 'a.txt')));
  expect(refused.code).toBe(0);
  expect(JSON.parse(refused.stdout)).toEqual({ systemMessage: expect.stringMatching(/does not accept the token of claude-code.*covibe-local setup/s) });
  expect((await hook('after-tool', {})).stdout).toBe('');
  storeTokens(machine, {});
  const without = await hook('before-tool', { ...write(join(repository.path, 'a.txt')), session_id: 'run-2' });
  expect(JSON.parse(without.stdout)).toEqual({ systemMessage: expect.stringMatching(/No token of claude-code.*covibe-local setup/s) });
  const broken = await machine.run(repository.path, ['hook', 'claude-code', 'stop', '--base-url', traffic.url], {}, '{"prompt":"CANARY');
  expect([broken.code, broken.stdout]).toEqual([0, '']);
  expect(broken.stderr).toMatch(/not JSON.*continues/);
  expect(broken.stderr).not.toContain('CANARY');
  for (const args of [
    ['hook', 'claude-code', 'no-such-event'],
    ['hook', 'claude-code', 'stop', '--no-such-option'],
    ['hook', 'claude-code'],
  ]) {
    expect((await machine.run(repository.path, args)).code).toBe(1);
  }
});

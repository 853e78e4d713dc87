import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { socketIn } from '../../src/machine/agent-sessions/tmux.ts';
import { signalAll } from '../../src/machine/process/group.ts';
import { endTmux, processesWith } from '../../src/testing/programs/processes.ts';
import { covenant, startCommand, startProgram } from '../../src/testing/programs/program.ts';
import { temporaryRepository } from '../../src/testing/scenes/repository.ts';
import type { Body } from '../../src/testing/scenes/workflow.ts';
import { temporaryFolder } from '../../src/testing/store/database.ts';
import { until } from '../../src/testing/until.ts';

const CONFIG = `
[instances]
max_running = 2
[launchers.counting]
command = "sh"
args = ["-c", "n=0; while [ $n -lt 4000 ]; do n=$((n+1)); printf 'line %s\\\\033[0m\\\\n' $n; sleep 1; done"]
prompt = "file"
`;

test('covenant instances: start, list, show, diff, message, allow, logs, attach, stop and clean work as typed [dashboard.instances.query]', async () => {
  const home = temporaryFolder();
  const repository = temporaryRepository();
  writeFileSync(join(home, 'config.toml'), CONFIG);
  onTestFinished(() => {
    endTmux(home);
    signalAll(processesWith(home), 'SIGKILL');
  });
  const at = { home, cwd: repository.path };
  const run = (...args: string[]) => covenant(at, 'instances', ...args);
  const json = async (...args: string[]): Promise<Body> => (await run(...args, '--json')).json;

  const start = ['start', '--type', 'coding', '--agent', 'counting'];
  expect(await run(...start, '--issue', '7')).toMatchObject({ code: 1, stderr: expect.stringMatching(/No server[\s\S]*next: covenant up/) });
  expect((await run('start', '--issue', '7')).code).toBe(2);
  expect((await run(...start, '--issue', 'seven')).code).toBe(2);
  const server = await startProgram(at);
  expect(await json(...start)).toMatchObject({ kind: 'error', code: 'INVALID_INPUT' });
  expect(await run(...start, '--issue', '7')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/work-7-a1 works on branch work\/work-7-a1[\s\S]*next: covenant instances/),
  });
  const { instance } = await json('start', '--type', 'planning', '--agent', 'counting', '--prompt=--plan; it', '--repo', '.', '--base', 'main');
  expect(instance).toMatchObject({ id: 'planning-a1', repository: repository.path, running: true });
  expect(await json(...start, '--prompt', 'more')).toMatchObject({ code: 'INSTANCE_LIMIT' });

  expect((await run('list')).stdout).toMatch(/INSTANCE[\s\S]*planning-a1 +planning +started[\s\S]*work-7-a1 +coding +started/);
  expect(await json('list', '--type', 'coding', '--status', 'started,pr_created')).toMatchObject({
    kind: 'instance_list',
    items: [{ id: 'work-7-a1' }],
    total: 1,
  });
  expect((await run('show', 'work-7-a1')).stdout).toContain('0 of at most 3 reviews, 0 of 5 failed');
  repository.write('new.txt', 'one\n', `${repository.path}-worktrees/work-7-a1`);
  expect((await run('diff', 'work-7-a1')).stdout).toMatch(
    /1 file\(s\), \+1 -0, 1 not committed: in its worktree, against main[\s\S]*added, not committed +new\.txt/,
  );
  expect((await run('diff', 'work-7-a1', '--path', 'new.txt')).stdout).toContain('@@ -0,0 +1,1 @@\n+one');
  rmSync(join(`${repository.path}-worktrees`, 'work-7-a1', 'new.txt'));
  expect((await run('message', 'work-7-a1')).code).toBe(2);
  expect((await run('message', 'work-7-a1', '--text=--go on')).stdout).toMatch(/Sent msg_\w+ to work-7-a1\./);
  expect((await run('allow', 'work-7-a1')).stdout).toContain('work-7-a1 may have 4 reviews. It has had 0.');
  expect((await json('show', 'planning-a1')).prompt).toContain('--plan; it');
  const { command } = await json('attach', 'work-7-a1');
  if (instance.session_kind === 'tmux') {
    expect(command).toEqual(['tmux', '-S', socketIn(home), 'attach-session', '-r', '-t', '=work-7-a1']);
    expect((await json('attach', 'work-7-a1', '--write')).command).not.toContain('-r');
    expect(await run('attach', 'work-7-a1')).toMatchObject({ code: 1, stderr: expect.stringContaining('instances logs work-7-a1 --follow') });
  }
  await until(async () => expect((await run('logs', 'work-7-a1')).stdout).toMatch(/^line 1\nline 2\n/));
  const following = startCommand(at, 'instances', 'logs', 'work-7-a1', '--follow');
  expect([await following.line(), await following.line()]).toEqual(['line 1', 'line 2']);

  writeFileSync(join(repository.path, '..', 'app-worktrees', 'work-7-a1', 'loose.txt'), 'x');
  expect(await run('stop', 'work-7-a1', '--reason', 'enough')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Stopped work-7-a1[\s\S]*1 file\(s\) untracked[\s\S]*instances clean work-7-a1/),
  });
  expect(await following.ended).toBe(0);
  expect(await run('attach', 'work-7-a1')).toMatchObject({ code: 1, stderr: expect.stringContaining('is not running') });
  expect((await run('abandon', 'planning-a1')).stdout).toContain('Its status is abandoned. Its worktree was removed.');

  // Ended instances can be cleaned up without a server.
  await server.stop();
  expect((await run('clean', 'work-7-a1')).code).toBe(1);
  expect(await json('clean', 'work-7-a1', '--force')).toMatchObject({
    kind: 'instance_cleaned',
    worktree: 'removed',
    backup_ref: 'refs/covenant/backup/work-7-a1',
  });
  expect(repository.worktrees()).toEqual([]);
  expect(await run('show', 'work-7')).toMatchObject({ code: 1, stderr: expect.stringContaining('work-<issue>-a<n>') });
});

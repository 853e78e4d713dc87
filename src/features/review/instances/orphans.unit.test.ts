import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { socketIn, tmuxVersion } from '../../../machine/agent-sessions/tmux.ts';
import { testApp } from '../../../testing/app.ts';
import { SLEEPER } from '../../../testing/config.ts';
import { endTmux, isAlive } from '../../../testing/programs/processes.ts';
import { temporaryRepository } from '../../../testing/scenes/repository.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';

const present = (await tmuxVersion()) !== null;

test.runIf(present)('leftovers are listed with the command that removes each, and are cleared if no work is lost; everything in use stays', async () => {
  const t = await testApp({ launchers: { tiny: SLEEPER } });
  t.app.servesAt('http://127.0.0.1:9');
  const host = t.app.agentHost;
  const socket = socketIn(t.app.config.home);
  onTestFinished(() => endTmux(t.app.config.home));
  const repository = temporaryRepository();
  const start = async (issue: number) => (await t.done('instances.start', { repository_path: repository.path, type: 'coding', issue, agent: 'tiny' })) as Body;
  const running = await start(1);
  const kept = await start(2);
  repository.write('unsaved.txt', 'unsaved\n', kept.worktree_path);
  await t.done('instances.stop', { instance_id: kept.id });
  expect((await t.done('instances.orphans', {})).items).toEqual([]);

  const [tmux, processes] = [await host.sessions('tmux'), await host.sessions('process')];
  const session = { cwd: repository.path, file: 'sleep', args: ['86400'], env: { PATH: process.env.PATH ?? '' } };
  await tmux.start({ ...session, name: 'work-9-a1' });
  await tmux.start({ ...session, name: 'beta_adhoc-a2' });
  await tmux.start({ ...session, name: 'mine' });
  const plain = await processes.start({ ...session, name: 'work-8-a1' });
  onTestFinished(() => processes.end(plain));
  const worktree = (name: string, branch: string) => {
    const path = `${repository.path}-worktrees/${name}`;
    repository.git(['worktree', 'add', '--quiet', '-b', branch, path]);
    return path;
  };
  const clean = worktree('work-9-a1', 'work/work-9-a1');
  const dirty = worktree('review-9-a1', 'review/review-9-a1');
  repository.write('unsaved.txt', 'unsaved\n', dirty);
  const foreign = worktree('work-10-a1', 'work/work-10-a1');
  mkdirSync(join(foreign, '.covenant'));
  writeFileSync(join(foreign, '.covenant', 'machine'), 'host:/another/home');
  const persons = worktree('mine', 'work/mine');

  const { items } = (await t.done('instances.orphans', {})) as Body;
  expect(items.map(({ kind, name, reason }: Body) => [kind, name, reason])).toEqual([
    ['session', 'beta_adhoc-a2', null],
    ['session', 'work-9-a1', null],
    ['session', 'work-8-a1', null],
    ['worktree', 'review-9-a1', expect.stringContaining('untracked')],
    ['worktree', 'work-9-a1', null],
  ]);
  expect(items.map(({ command }: Body) => command)).toEqual([
    ['tmux', '-S', socket, 'kill-session', '-t', '=beta_adhoc-a2'],
    ['tmux', '-S', socket, 'kill-session', '-t', '=work-9-a1'],
    ['kill', '-s', 'TERM', '--', `-${plain.pid}`],
    ['covenant', 'doctor', '--fix', '--force', dirty],
    ['git', '-C', repository.path, 'worktree', 'remove', '--', clean],
  ]);
  const [[file, ...args]] = items.map(({ command }: Body) => command);
  execFileSync(file, args);
  expect(await tmux.names()).toEqual(['mine', running.session_name, 'work-9-a1']);
  const ana = await t.developer('ana');
  expect((await t.action('instances.clear_orphans', {}, ana)).reply).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  expect((await t.action('instances.clear_orphans', { force: persons })).reply).toMatchObject({ code: 'ORPHAN_NOT_FOUND' });
  expect(isAlive(plain.pid)).toBe(true);

  const first = (await t.done('instances.clear_orphans', {})) as Body;
  expect(first.items.map(({ name, cleared }: Body) => [name, cleared])).toEqual([
    ['work-9-a1', true],
    ['work-8-a1', true],
    ['review-9-a1', false],
    ['work-9-a1', true],
  ]);
  expect(await tmux.names()).toEqual(['mine', running.session_name]);
  expect(isAlive(plain.pid)).toBe(false);
  expect([existsSync(clean), existsSync(dirty)]).toEqual([false, true]);
  expect(repository.branches()).not.toContain('work/work-9-a1');
  const second = (await t.done('instances.clear_orphans', { force: dirty })) as Body;
  expect(second.items).toMatchObject([{ name: 'review-9-a1', cleared: true, backup_ref: 'refs/covenant/backup/review-9-a1' }]);
  expect(repository.git(['show', 'refs/covenant/backup/review-9-a1:unsaved.txt'])).toBe('unsaved');
  expect([running.worktree_path, kept.worktree_path, foreign, persons, dirty].map((path) => existsSync(path))).toEqual([true, true, true, true, false]);
  expect((await t.events({ kind: 'instance.orphan_cleared' })).map(({ subject, actor }) => [subject, actor])).toEqual([
    ['work-9-a1', 'operator'],
    ['work-8-a1', 'operator'],
    ['work-9-a1', 'operator'],
    ['review-9-a1', 'operator'],
  ]);
  expect((await t.done('instances.orphans', {})).items).toEqual([]);
  await t.done('instances.stop', { instance_id: running.id });
});

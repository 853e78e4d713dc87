import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { TestApp, TestCaller } from '../../../testing/app.ts';
import { type InstanceApp, instanceApp } from '../../../testing/scenes/instances.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { changeInstance } from './store.ts';

const action = async (t: TestApp, name: string, args: object, caller?: TestCaller): Promise<Body> => (await t.action(name, args, caller)).body as Body;
const change = (t: InstanceApp, row: InstanceRow, values: Partial<InstanceRow>) =>
  t.app.store.write(row.workspace_id, (tx) => changeInstance(tx.db, row, values));

test('a stop ends the agent and removes its worktree if no work is lost; repeating it changes nothing [review.cleanup.finished]', async () => {
  const t = await instanceApp();
  const { id, agent_id, worktree_path } = (await t.done('instances.start', {
    repository_path: t.repository.path,
    type: 'coding',
    issue: 7,
    agent: 'tiny',
  })) as Body;
  const caller = await t.as(id);
  const stopped = await t.done('instances.stop', { instance_id: id, reason: 'no longer wanted' });
  expect(stopped).toMatchObject({
    ...{ worktree: 'removed', reason: null, backup_ref: null },
    instance: { status: 'terminated', status_reason: 'stopped by operator: no longer wanted', running: false, ended_at: t.clock.now() },
  });
  expect([t.host.running.size, existsSync(worktree_path), t.repository.branches()]).toEqual([0, false, ['main']]);
  expect(await t.app.authenticate(caller.token, 'bearer')).toEqual({ rejected: 'revoked' });
  expect((await t.done('workflows.agents', {})) as Body).toMatchObject({ items: [{ id: agent_id, status: 'offline' }] });
  expect(await t.done('instances.logs', { instance_id: id })).toMatchObject({ text: 'its screen', running: false });
  const before = await t.events({ category: 'work' });
  expect(await t.done('instances.stop', { instance_id: id, reason: 'again' })).toEqual(stopped);
  expect(await t.done('instances.clean', { instance_id: id, force: true })).toEqual(stopped);
  expect(await t.events({ category: 'work' })).toEqual(before);
  expect(await action(t, 'instances.abandon', { instance_id: id })).toMatchObject({ code: 'INVALID_STATE', status: 'terminated' });
});

test('a worktree with unsaved work is kept until a person forces its removal; a backup ref then contains all of that work [review.worktree.never-lost] [review.worktree.forced-backup]', async () => {
  const t = await instanceApp();
  const { id, worktree_path } = await t.coding();
  t.repository.write('staged.txt', 'staged', worktree_path);
  t.repository.git(['add', 'staged.txt'], worktree_path);
  t.repository.write('loose.txt', 'loose', worktree_path);
  const tip = t.repository.git(['rev-parse', 'HEAD'], worktree_path);
  expect(await action(t, 'instances.clean', { instance_id: id, force: true })).toMatchObject({
    code: 'INVALID_STATE',
    message: expect.stringContaining('has not ended'),
  });
  const kept = { worktree: 'kept', reason: expect.stringMatching(/1 file\(s\) changed.*1 file\(s\) untracked.*1 commit/), backup_ref: null };
  expect(await t.done('instances.stop', { instance_id: id })).toMatchObject(kept);
  expect(t.host.running.size).toBe(0);
  expect(await t.done('instances.clean', { instance_id: id })).toMatchObject({ ...kept, instance: { status: 'terminated', kept_reason: kept.reason } });
  expect(readFileSync(join(worktree_path, 'loose.txt'), 'utf8')).toBe('loose');

  const cleaned = (await t.done('instances.clean', { instance_id: id, force: true })) as Body;
  expect(cleaned).toMatchObject({ worktree: 'removed', reason: null, backup_ref: `refs/covenant/backup/${id}`, instance: { kept_reason: null } });
  expect([existsSync(worktree_path), t.repository.branches()]).toEqual([false, ['main']]);
  const saved = (file: string) => t.repository.git(['show', `${cleaned.backup_ref}:${file}`]);
  expect([saved('staged.txt'), saved('loose.txt'), saved(`${id}.txt`)]).toEqual(['staged', 'loose', 'work']);
  expect(t.repository.git(['merge-base', '--is-ancestor', tip, cleaned.backup_ref])).toBe('');
  expect((await t.events({ kind: 'instance.cleaned' })).at(-1)?.payload).toMatchObject({ worktree: 'removed', backup_ref: cleaned.backup_ref });

  // Work on a remote counts as saved. A locked worktree is kept even if its removal is forced.
  const origin = join(temporaryFolder(), 'origin.git');
  t.repository.git(['init', '--quiet', '--bare', origin]);
  t.repository.git(['remote', 'add', 'origin', origin]);
  const pushed = await t.coding();
  t.repository.git(['push', '--quiet', 'origin', pushed.branch_name]);
  expect(await t.done('instances.stop', { instance_id: pushed.id })).toMatchObject({ worktree: 'removed' });
  const locked = await t.coding();
  t.repository.git(['worktree', 'lock', '--reason', 'mine', locked.worktree_path]);
  await t.done('instances.stop', { instance_id: locked.id });
  expect(await t.done('instances.clean', { instance_id: locked.id, force: true })).toMatchObject({
    worktree: 'kept',
    reason: 'it is locked (mine)',
    backup_ref: null,
  });
});

test('abandoning an instance ends its session and its review, and removes its worktree if no work is lost [review.abandon.manual] [review.abandon.cleanup-session] [review.abandon.cleanup-worktree]', async () => {
  const t = await instanceApp();
  const work = await t.coding();
  const review = await t.review(work.id);
  expect(await action(t, 'instances.abandon', { instance_id: review.id })).toMatchObject({
    code: 'INVALID_STATE',
    suggestion: expect.stringContaining('stop'),
  });
  const abandoned = await t.done('instances.abandon', { instance_id: work.id, reason: 'wrong way' });
  expect(abandoned).toMatchObject({
    instance: { status: 'abandoned', status_reason: 'abandoned by operator: wrong way' },
    worktree: 'kept',
    reason: expect.stringContaining('1 commit'),
  });
  expect(t.host.running.size).toBe(0);
  expect(await t.instance(review.id)).toMatchObject({
    status: 'terminated',
    ended_at: t.clock.now(),
    status_reason: `${work.id} was abandoned`,
    kept_reason: null,
  });
  expect(await t.relationships(work.id)).toMatchObject([{ outcome: 'stopped', ended_at: t.clock.now() }]);
  expect(await t.messages(work.id)).toEqual([]);
  expect(t.repository.worktrees()).toEqual([work.worktree_path]);
  expect(await t.done('instances.abandon', { instance_id: work.id })).toMatchObject({ instance: { status_reason: 'abandoned by operator: wrong way' } });
  expect(await t.events({ kind: 'instance.abandoned' })).toHaveLength(1);

  const clean = (await t.done('instances.start', { repository_path: t.repository.path, type: 'coding', prompt: 'x', agent: 'tiny' })) as Body;
  expect(await t.done('instances.abandon', { instance_id: clean.id })).toMatchObject({ worktree: 'removed', instance: { status: 'abandoned' } });
  expect([t.repository.worktrees(), t.repository.branches()]).toEqual([[work.worktree_path], ['main', work.branch_name]]);
});

test('stopping a review releases and notifies its coding agent; stopping a coding agent ends its review; pull requests stay open', async () => {
  const t = await instanceApp();
  const work = await t.coding();
  const first = await t.review(work.id);
  expect(await t.done('instances.stop', { instance_id: first.id })).toMatchObject({ worktree: 'removed', instance: { status: 'terminated' } });
  expect(await t.instance(work.id)).toMatchObject({ status: 'started', ended_at: null });
  expect(await t.messages(work.id)).toMatchObject([{ subject: 'Your review was stopped', body: expect.stringContaining('request_review') }]);
  expect(await t.relationships(work.id)).toMatchObject([{ outcome: 'stopped' }]);

  const second = await t.review(work.id);
  await t.done('instances.stop', { instance_id: work.id });
  expect([(await t.instance(work.id)).status, (await t.instance(second.id)).status, t.host.running.size]).toEqual(['terminated', 'terminated', 0]);
  expect(await t.instance(second.id)).toMatchObject({ status_reason: `${work.id} was terminated` });

  const opened = await t.coding();
  await change(t, opened, { status: 'pr_created', pr_number: 5, pr_url: 'https://github.com/o/r/pull/5' });
  expect(await t.done('instances.stop', { instance_id: opened.id })).toMatchObject({
    instance: { status: 'pr_created', pr_number: 5, status_reason: 'stopped by operator' },
  });
  expect(t.host.running.size).toBe(0);
  expect(await t.done('instances.abandon', { instance_id: opened.id })).toMatchObject({ instance: { status: 'abandoned' } });
});

test("a stop is refused during a step and on another machine's instance, and it completes an end that a dead server began", async () => {
  const t = await instanceApp();
  const work = await t.coding();
  const until = t.clock.now() + 60_000;
  for (const step of ['worktree', 'session', 'restart', 'ending'] as const) {
    await change(t, work, { step, step_until: until, step_data: '{}' });
    for (const name of ['stop', 'abandon', 'clean'])
      expect(await action(t, `instances.${name}`, { instance_id: work.id })).toMatchObject({ code: 'BUSY', step });
  }
  await change(t, work, { step: null, step_until: null, machine: 'elsewhere:/srv' });
  for (const name of ['stop', 'abandon', 'clean', 'logs']) {
    expect(await action(t, `instances.${name}`, { instance_id: work.id })).toMatchObject({ code: 'WRONG_MACHINE', machine: 'elsewhere:/srv' });
  }
  expect(await t.done('instances.show', { instance_id: work.id })).toMatchObject({ instance: { machine: 'elsewhere:/srv' }, attach: null });
  t.clock.advance(3_600_000);
  expect(await t.instance(work.id)).toMatchObject({ status: 'started', step: null });

  // The step belonged to a process that does not exist any more.
  await change(t, work, {
    machine: 'pretended',
    status: 'terminated',
    step: 'ending',
    step_until: t.clock.now() + 60_000,
    step_by: '1:1',
    step_data: '{"force":false}',
  });
  expect(await t.done('instances.stop', { instance_id: work.id })).toMatchObject({
    worktree: 'kept',
    instance: { status: 'terminated', ended_at: t.clock.now() },
  });
  expect(t.host.running.size).toBe(0);
});

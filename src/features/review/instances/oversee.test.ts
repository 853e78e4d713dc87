import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { type InstanceApp, instanceApp } from '../../../testing/scenes/instances.ts';
import { pretendedHost } from '../../../testing/scenes/sessions.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';
import { pretendedDisk } from '../../../testing/stand-ins/pretended-disk.ts';
import { until } from '../../../testing/until.ts';

const asked = async (t: InstanceApp, name: string, args: object, caller?: TestCaller): Promise<Body> => (await t.action(name, args, caller)).body as Body;
const onDashboard = (caller: TestCaller): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true } });

test("a person's message is in the agent's inbox immediately, and is typed into its terminal as one line after earlier news", async () => {
  const t = await instanceApp(pretendedDisk);
  const { id } = await t.coding();
  const first = await asked(t, 'instances.message', { instance_id: id, message: 'Use the\nold \u001b[31mtable' });
  expect(first).toMatchObject({ instance_id: id, reaches: 'terminal' });
  const second = await asked(t, 'instances.message', { instance_id: id, message: 'x'.repeat(2_000) });
  expect((await t.messages(id)).map(({ sender_id, body }) => [sender_id, body])).toEqual([
    ['human', 'Use the\nold \u001b[31mtable'],
    ['human', 'x'.repeat(2_000)],
  ]);
  await t.later(6_000);
  expect(t.host.running.get(id)?.typed).toEqual([
    `Message from a person (${first.message_id}): Use the old \u001b[31mtable Message from a person (${second.message_id}): call message_list to read it.`,
  ]);
  expect((await t.events({ kind: 'instance.messaged' })).map(({ subject, payload }) => [subject, payload.message_id])).toEqual([
    [id, first.message_id],
    [id, second.message_id],
  ]);
  await t.done('instances.stop', { instance_id: id });
  expect(await asked(t, 'instances.message', { instance_id: id, message: 'Too late' })).toMatchObject({ code: 'INVALID_STATE' });
});

test("a person's message during a review is not lost when the review ends", async () => {
  const t = await instanceApp(pretendedDisk);
  const { id } = await t.coding();
  const review = await t.review(id);
  t.host.dies(id);
  await t.later(6_000);
  await until(async () => expect((await t.instance(id)).pid).toBe(null));
  expect(await asked(t, 'instances.message', { instance_id: id, message: 'Mind the edge' })).toMatchObject({ reaches: 'next_start' });
  await t.ok('send_feedback', { feedback: 'No.', feedback_type: 'needs_work' }, review.id);
  await t.later(12_000);
  const prompt = t.host.started.findLast(({ name }) => name === id)?.args[1];
  expect(prompt).toMatch(/Mind the edge.*Review 1 by review-7-a1: needs_work/);
});

test('a person can allow one instance an extra review and withdraw it while it is unused; the agent is notified, and the journal records both', async () => {
  const t = await instanceApp(pretendedDisk);
  await t.done('settings.set', { key: 'review.max_iterations', value: 1 });
  const { id } = await t.coding();
  const allow = (args: object = {}) => asked(t, 'instances.allow_review', { instance_id: id, ...args });
  expect(await allow({ withdraw: true })).toMatchObject({ code: 'NOTHING_TO_WITHDRAW' });
  await t.ok('send_feedback', { feedback: 'No.', feedback_type: 'needs_work' }, (await t.review(id)).id);
  expect((await t.refused('request_review', {}, id)).code).toBe('REVIEW_LIMIT_EXCEEDED');
  expect(await allow()).toMatchObject({ max_reviews: 2, extra_reviews: 1, at_limit: false, suggestions: [] });
  expect((await t.messages(id)).at(-1)).toMatchObject({ sender_id: 'human', subject: 'One more review is allowed' });
  expect(await allow({ withdraw: true })).toMatchObject({ max_reviews: 1, extra_reviews: 0, at_limit: true });
  expect((await t.refused('request_review', {}, id)).code).toBe('REVIEW_LIMIT_EXCEEDED');
  await allow();
  const { id: other } = await t.coding({ issue: 8 });
  expect(((await t.done('instances.show', { instance_id: other })) as Body).instance.max_reviews).toBe(1);
  expect((await t.review(id)).review_iteration).toBe(2);
  expect(await allow({ withdraw: true })).toMatchObject({ code: 'NOTHING_TO_WITHDRAW' });
  const journal = (await t.events()).filter(({ subject }) => subject === id).map(({ kind }) => kind);
  expect(journal.filter((kind) => /review_(allowed|withdrawn)/.test(kind))).toEqual([
    'instance.review_allowed',
    'instance.review_withdrawn',
    'instance.review_allowed',
  ]);
  expect(await asked(t, 'instances.allow_review', { instance_id: 'review-7-a2' })).toMatchObject({ code: 'WRONG_AGENT_TYPE' });
  await t.done('instances.abandon', { instance_id: id });
  expect(await allow()).toMatchObject({ code: 'INVALID_STATE' });
});

test("an instance's changes are read from its worktree, then its branch, then its backup; their size is refreshed periodically", async () => {
  const t = await instanceApp();
  const coding = await t.coding();
  const { id, worktree_path: worktree } = coding;
  const diff = (args: object = {}) => asked(t, 'instances.diff', { instance_id: id, ...args });
  const sizes = async () => ((await t.done('instances.sizes', { instance_ids: [id, 'work-9-a9'] })) as Body).items;
  expect(await sizes()).toEqual([{ instance_id: id, files: 1, added: 1, removed: 0 }]);
  t.repository.write('new.txt', `${'line\n'.repeat(700)}`, worktree);
  expect(await sizes()).toEqual([{ instance_id: id, files: 1, added: 1, removed: 0 }]);
  t.clock.advance(15_000);
  expect(await sizes()).toEqual([{ instance_id: id, files: 2, added: 701, removed: 0 }]);
  const base = t.repository.git(['rev-parse', 'main']);
  expect(await diff()).toMatchObject({ of: 'worktree', from: base, base_branch: 'main', total: 2, added: 701, removed: 0, uncommitted: 1, file: null });
  const { file } = await diff({ path: 'new.txt', offset: 500 });
  expect(file).toMatchObject({ path: 'new.txt', change: 'added', total_lines: 701, offset: 500 });
  expect(file.lines).toHaveLength(201);
  expect(file.lines[0]).toEqual({ kind: 'added', before: null, after: 500, text: 'line', cut: 0 });
  expect(await diff({ path: '../../etc/passwd' })).toMatchObject({ code: 'FILE_NOT_CHANGED' });

  expect(await asked(t, 'instances.unsaved', { instance_id: id })).toEqual({
    ...{ instance_id: id, worktree: 'there', uncommitted: 1, unpushed: 1, backup_ref: `refs/covenant/backup/${id}`, review: null },
    kept_reason: expect.stringContaining('1 file(s) untracked'),
  });
  await t.done('instances.stop', { instance_id: id });
  await t.done('instances.clean', { instance_id: id, force: true });
  expect(await diff()).toMatchObject({ of: 'backup', total: 2, added: 701 });
  expect(await asked(t, 'instances.unsaved', { instance_id: id })).toMatchObject({
    worktree: 'gone',
    uncommitted: 0,
    backup_ref: `refs/covenant/backup/${id}-2`,
  });
  t.repository.git(['update-ref', '-d', `refs/covenant/backup/${id}`]);
  expect(await diff()).toMatchObject({ code: 'WORK_GONE', suggestion: expect.stringContaining('`git log ') });
  rmSync(t.repository.path, { recursive: true });
  expect(await diff()).toMatchObject({ code: 'GIT_FAILED', suggestion: expect.stringContaining('`git -C ') });
});

test("actions on another machine's instance are refused with the name of that machine, and a private developer is not revealed", async () => {
  const t = await instanceApp();
  const ana = onDashboard(await t.developer('ana'));
  const ben = onDashboard(await t.developer('ben'));
  const { id } = await t.coding();
  const elsewhere = await instanceApp({ database: t.database, repository: t.repository, host: { ...pretendedHost(), machine: 'elsewhere' } });
  for (const name of ['instances.diff', 'instances.unsaved']) {
    expect(await asked(elsewhere, name, { instance_id: id })).toMatchObject({ code: 'WRONG_MACHINE', message: expect.stringContaining('runs on pretended') });
    // Only operators may read the server's disk.
    expect(await asked(t, name, { instance_id: id }, ben)).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  }
  expect(((await elsewhere.done('instances.sizes', { instance_ids: [id] })) as Body).items).toEqual([]);

  const listed = async (caller: TestCaller | undefined, repository?: string) =>
    ((await t.done('instances.list', { ...(repository && { repository }) }, caller)) as Body).items.map((item: Body) => item.id);
  expect(await listed(ben, 'app')).toEqual([id]);
  expect(await listed(ben, 'shop')).toEqual([]);
  await t.done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  expect([await listed(ben), await listed(ben, 'app'), await listed(ana, 'app'), await listed(undefined, 'app')]).toEqual([[id], [], [id], [id]]);
  expect(((await t.done('instances.sizes', { instance_ids: [id] }, ben)) as Body).items).toEqual([]);
});

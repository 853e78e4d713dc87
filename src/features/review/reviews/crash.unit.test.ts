import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileDisk } from '../../../machine/files.ts';
import { gitDisk } from '../../../machine/git/disk.ts';
import { HOUR, type InstanceApp, instanceApp } from '../../../testing/scenes/instances.ts';
import { temporaryRepository } from '../../../testing/scenes/repository.ts';
import { pretendedHost } from '../../../testing/scenes/sessions.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';
import { temporaryDatabase } from '../../../testing/store/database.ts';

type Moment = 'before' | 'after';

/** Sets where the next call stops. The call never continues, as if its server had been killed. */
function cutter() {
  let next: { step: string; moment: Moment; died: () => void } | undefined;
  const cut = async (step: string, moment: Moment) => {
    if (next?.step !== step || next.moment !== moment) return;
    next.died();
    next = undefined;
    await new Promise<never>(() => {});
  };
  const cutting = <T extends object>(parts: T): T =>
    Object.fromEntries(
      Object.entries(parts).map(([name, part]) => {
        if (typeof part !== 'function') return [name, part];
        const stepped = async (...args: unknown[]) => {
          await cut(name, 'before');
          const result = await part(...args);
          await cut(name, 'after');
          return result;
        };
        return [name, stepped];
      }),
    ) as T;
  const arm = (step: string, moment: Moment): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    next = { step, moment, died: resolve };
    return promise;
  };
  return { cutting, arm };
}

/** A time that is longer than any step may take. */
const OVERDUE = 200_000;

/** Two servers on one machine with one store. The first dies on demand, and the second finds what the first left behind. */
async function twoServers() {
  const [database, repository, host] = [await temporaryDatabase(), temporaryRepository(), pretendedHost()];
  const { cutting, arm } = cutter();
  const sessions = cutting(await host.sessions());
  const shared = { database, repository, host };
  const dead = await instanceApp({ ...shared, disk: cutting(gitDisk), files: cutting(fileDisk), agentHost: { ...host, sessions: async () => sessions } });
  const t = await instanceApp(shared);
  const callAndDie = async (tool: string, args: object, id: string, step: string, moment: Moment) => {
    const died = arm(step, moment);
    void dead.tool(tool, args, await dead.as(id)).catch(() => {});
    await died;
  };
  return { t, callAndDie };
}

const kinds = async (t: InstanceApp, kind: string, subject: string) => (await t.events({ kind })).filter((event) => event.subject === subject).length;

const STARTING: [step: string, moment: Moment][] = [
  ['addWorktree', 'after'],
  ['start', 'before'],
  ['start', 'after'],
];

test('if a server dies while it starts a review, another server finishes the start, or undoes it if the review is no longer wanted [review.request.failure-undone]', async () => {
  const { t, callAndDie } = await twoServers();
  for (const [index, [step, moment]] of STARTING.entries()) {
    for (const isWanted of moment === 'after' ? [true, false] : [true]) {
      const issue = 100 + 2 * index + (isWanted ? 1 : 0);
      const what = `${step}, ${moment}, ${isWanted ? 'wanted' : 'not wanted'}`;
      const coding = await t.coding({ issue });
      const review = `review-${issue}-a1`;
      await callAndDie('request_review', {}, coding.id, step, moment);
      expect((await t.instance(coding.id)).status, what).toBe('started');
      expect((await t.refused('request_review', {}, coding.id)).code, what).toBe('REVIEW_IN_PROGRESS');
      if (!isWanted) await t.done('instances.abandon', { instance_id: coding.id });
      await t.later(OVERDUE);
      const found = await t.app.store.reader.selectFrom('instances').selectAll().where('id', '=', review).execute();
      expect([t.host.running.has(review), t.repository.onDisk().includes(review), found.length, (await t.relationships(coding.id)).length], what).toEqual(
        isWanted ? [true, true, 1, 1] : [false, false, 0, 0],
      );
      expect((await t.instance(coding.id)).status, what).toBe(isWanted ? 'waiting_review' : 'abandoned');
      expect([await kinds(t, 'instance.started', review), await kinds(t, 'instance.failed', review)], what).toEqual(isWanted ? [1, 0] : [0, 1]);
      // No review is started unless its coding agent waits for it.
      expect(t.host.started.filter(({ name }) => name === review).length, what).toBe(isWanted || (step === 'start' && moment === 'after') ? 1 : 0);
      // The token that the process of the reviewer received is valid.
      if (isWanted) await t.ok('send_feedback', { feedback: 'x', feedback_type: 'suggestions' }, review);
      if (isWanted) await t.done('instances.stop', { instance_id: coding.id });
    }
  }
  await t.later(10_000);
  expect([...t.host.running.keys()]).toEqual([]);
  expect(t.repository.branches().filter((name) => name.startsWith('review/'))).toEqual([]);
});

const DELIVERING: [step: string, moment: Moment][] = [
  ['prepareMerge', 'after'],
  ['applyMerge', 'after'],
];

test('if a server dies while it delivers feedback, another server delivers it once, and the review does not count as stuck meanwhile [review.feedback.reviewer-terminated]', async () => {
  const { t, callAndDie } = await twoServers();
  for (const [index, [step, moment]] of DELIVERING.entries()) {
    const what = `${step}, ${moment}`;
    const coding = await t.coding({ issue: index + 1 });
    const review = await t.review(coding.id);
    const path = coding.worktree_path;
    t.repository.write('staged.txt', 'staged\n', path);
    t.repository.git(['add', '--', 'staged.txt'], path);
    await callAndDie('send_feedback', { feedback: `Said ${index}`, feedback_type: 'needs_work', actionable_items: ['Do it'] }, review.id, step, moment);
    await t.later(index === 0 ? 25 * HOUR : OVERDUE);
    await t.later(10_000);
    const [feedback] = (await t.done('instances.show', { instance_id: coding.id })).feedback as [Body];
    const { git } = t.repository;
    expect(feedback, what).toMatchObject({ delivered: 'merged', git_commit_hash: git(['rev-parse', coding.branch_name]), feedback: `Said ${index}` });
    expect(git(['diff', '--name-only', 'HEAD^1', 'HEAD'], path), what).toBe('REVIEW_FEEDBACK.md');
    expect(git(['status', '--porcelain'], path), what).toBe('A  staged.txt');
    expect(readFileSync(join(path, 'REVIEW_FEEDBACK.md'), 'utf8'), what).toContain(`Said ${index}`);
    expect(
      readdirSync(git(['rev-parse', '--absolute-git-dir'], path)).filter((name) => /covenant|lock/.test(name)),
      what,
    ).toEqual([]);
    expect(await t.instance(coding.id), what).toMatchObject({ status: 'started', failed_reviews: 1 });
    expect(await t.relationships(coding.id), what).toMatchObject([{ outcome: 'needs_work' }]);
    expect(await t.instance(review.id), what).toMatchObject({ status: 'terminated', kept_reason: null, ended_at: expect.any(Number) });
    expect([(await t.messages(coding.id)).length, await kinds(t, 'review.feedback', feedback.feedback_id)], what).toEqual([1, 1]);
    expect(t.host.running.get(coding.id)?.typed.length, what).toBe(1);
    expect([t.host.running.has(review.id), t.repository.onDisk().includes(review.id)], what).toEqual([false, false]);
  }
});

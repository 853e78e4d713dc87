import { describe, expect, test } from 'vitest';
import type { GitDisk } from '../../../machine/git/disk.ts';
import { HOUR, type InstanceApp, instanceApp } from '../../../testing/scenes/instances.ts';
import { pretendedDisk } from '../../../testing/stand-ins/pretended-disk.ts';

const settled = { feedback: 'Well.', feedback_type: 'suggestions' };
const failed = { feedback: 'No.', feedback_type: 'needs_work' };

/** One complete review round. */
async function round(t: InstanceApp, id: string, feedback: object = settled): Promise<void> {
  await t.ok('send_feedback', feedback, (await t.review(id)).id);
}

/** The coding agent has a commit that exists only in its worktree. */
const unsaved: GitDisk = {
  ...pretendedDisk.disk,
  worktreeState: async (repository, path, against) => ({
    ...(await pretendedDisk.disk.worktreeState(repository, path, against)),
    unsaved: against.branch.startsWith('work/') ? 1 : 0,
  }),
};

describe('the limit of reviews', () => {
  test('is 3, and the next request is refused as documented, starts nothing and keeps the status [review.limit.default] [review.limit.at-limit-refused] [review.limit.status-unchanged] [review.limit.message] [review.limit.counters] [review.limit.suggestions] [review.abandon.counts-refusals]', async () => {
    const t = await instanceApp(pretendedDisk);
    const coding = await t.coding({ issue: 123 });
    for (let ran = 0; ran < 3; ran++) await round(t, coding.id);
    await t.later(10_000);
    const refusal = await t.refused('request_review', {}, coding.id);
    const suggestions = [
      'Create pull request with current work',
      'Abandon this approach and try different solution',
      'Manually review and fix issues before requesting review',
    ];
    expect(refusal).toMatchObject({
      error: 'REVIEW_LIMIT_EXCEEDED',
      message: 'Maximum review iterations (3) reached for agent work-123-a1',
      suggestions,
      current_iteration: 3,
      max_iterations: 3,
      code: 'REVIEW_LIMIT_EXCEEDED',
      suggestion: expect.stringContaining('Call create_pull_request'),
      recoverable: true,
      tool_name: 'request_review',
      instance_id: 'work-123-a1',
      failed_reviews: 1,
    });
    expect(await t.instance(coding.id)).toMatchObject({ status: 'started', failed_reviews: 1, step: null });
    expect([(await t.relationships(coding.id)).length, [...t.host.running.keys()]]).toEqual([3, ['work-123-a1']]);
    expect((await t.events({ kind: 'review.limit_exceeded' }))[0]).toMatchObject({ subject: coding.id, payload: { current_iteration: 3, abandoned: false } });
    expect(await t.done('instances.show', { instance_id: coding.id })).toMatchObject({ instance: { at_limit: true, suggestions, reviews: 3, max_reviews: 3 } });

    // A new limit applies from the next request on. If it is lower than the number of reviews that ran, requests are refused.
    await t.done('settings.set', { key: 'review.max_iterations', value: 4 });
    await round(t, coding.id);
    await t.done('settings.set', { key: 'review.max_iterations', value: 2 });
    expect(await t.refused('request_review', {}, coding.id)).toMatchObject({
      message: 'Maximum review iterations (2) reached for agent work-123-a1',
      current_iteration: 4,
      max_iterations: 2,
      failed_reviews: 2,
    });
  });
});

describe('failed reviews', () => {
  test('are counted separately from reviews that ran; the fifth abandons the instance, ends its session and keeps its unsaved work [review.abandon.default] [review.abandon.counts-needs-work] [review.abandon.separate-counters] [review.abandon.status] [review.abandon.cleanup-session]', async () => {
    const t = await instanceApp({ ...pretendedDisk, disk: unsaved });
    const coding = await t.coding();
    for (let ran = 0; ran < 3; ran++) await round(t, coding.id, failed);
    expect(await t.instance(coding.id)).toMatchObject({ status: 'started', failed_reviews: 3 });
    expect(await t.refused('request_review', {}, coding.id)).toMatchObject({ failed_reviews: 4, status: 'started' });
    const last = await t.refused('request_review', {}, coding.id);
    expect(last).toMatchObject({ code: 'REVIEW_LIMIT_EXCEEDED', failed_reviews: 5, status: 'abandoned', suggestion: expect.stringContaining('abandoned') });
    // The agent gets a moment to read the answer before its session ends.
    expect(await t.instance(coding.id)).toMatchObject({ status: 'abandoned', failed_reviews: 5, step: 'ending', ended_at: null });
    expect(t.host.running.has(coding.id)).toBe(true);
    expect(await t.refused('request_review', {}, coding.id)).toMatchObject({ code: 'INVALID_STATE', status: 'abandoned' });
    await t.later(10_000);
    expect(await t.instance(coding.id)).toMatchObject({ status: 'abandoned', ended_at: t.clock.now(), kept_reason: expect.stringContaining('commit(s)') });
    expect([...t.host.running.keys()]).toEqual([]);
    await expect(t.as(coding.id)).rejects.toThrow('refused');
    expect(await t.events({ kind: 'instance.abandoned' })).toMatchObject([{ subject: coding.id, payload: { automatic: true, failed_reviews: 5 } }]);
  });

  test('abandon the coding agent as soon as a verdict reaches the threshold; its worktree is removed if all work is saved [review.abandon.cleanup-worktree]', async () => {
    const t = await instanceApp();
    await t.done('settings.set', { key: 'review.auto_abandon_after', value: 1 });
    const coding = await t.coding();
    const other = await t.coding({ issue: 8 });
    const review = await t.review(coding.id);
    // The branch counts as pushed, including the merge of the feedback.
    const { git } = t.repository;
    expect(await t.ok('send_feedback', failed, review.id)).toMatchObject({ delivered: 'merged' });
    git(['update-ref', 'refs/remotes/origin/work', git(['rev-parse', coding.branch_name])]);
    expect(await t.instance(coding.id)).toMatchObject({ status: 'abandoned', failed_reviews: 1 });
    expect(t.host.running.get(coding.id)?.typed).toEqual([]);
    await t.later(10_000);
    expect(await t.instance(coding.id)).toMatchObject({ status: 'abandoned', kept_reason: null });
    expect([t.repository.onDisk(), [...t.host.running.keys()]]).toEqual([[other.id], [other.id]]);
    expect((await t.instance(other.id)).status).toBe('started');
    expect(await t.messages(coding.id)).toMatchObject([{ body: expect.stringContaining('abandoned') }]);
    // Suggestions and questions do not count as failures.
    for (const feedback_type of ['suggestions', 'clarification']) await round(t, other.id, { feedback: 'x', feedback_type });
    expect(await t.instance(other.id)).toMatchObject({ status: 'started', failed_reviews: 0 });
  });
});

describe('a stuck review', () => {
  test('is stopped after 24 hours, or the configured time, and its coder is released and notified [review.timeout.default] [review.timeout.terminates] [review.timeout.parent-started]', async () => {
    const t = await instanceApp(pretendedDisk);
    const coding = await t.coding();
    const first = await t.review(coding.id);
    await t.later(24 * HOUR - 1);
    expect((await t.instance(first.id)).status).toBe('started');
    t.clock.advance(1);
    await expect.poll(async () => (await t.instance(coding.id)).status).toBe('started');
    await t.later(0);
    expect(await t.instance(first.id)).toMatchObject({ status: 'terminated', status_reason: 'it took longer than 24 h', ended_at: t.clock.now() });
    expect([...t.host.running.keys()]).toEqual([coding.id]);
    expect(await t.relationships(coding.id)).toMatchObject([{ outcome: 'timeout', ended_at: t.clock.now() }]);
    expect(await t.messages(coding.id)).toMatchObject([{ subject: 'Your review timed out', body: expect.stringContaining('request_review again') }]);
    expect((await t.instance(coding.id)).failed_reviews).toBe(0);

    await t.done('settings.set', { key: 'review.timeout_hours', value: 0.5 });
    const second = await t.review(coding.id);
    expect(second.review_iteration).toBe(2);
    t.clock.advance(HOUR / 2);
    await expect.poll(async () => (await t.instance(coding.id)).status).toBe('started');
    await t.later(0);
    expect((await t.instance(second.id)).status).toBe('terminated');
  });
});

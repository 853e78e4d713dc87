import { expect, onTestFinished, test } from 'vitest';
import { isAlive } from '../../src/testing/programs/processes.ts';
import { covenant } from '../../src/testing/programs/program.ts';
import { HOUR, type LoopOptions, reviewLoop } from '../../src/testing/scenes/review-loop.ts';
import type { Body } from '../../src/testing/scenes/workflow.ts';
import { fakeGitHub } from '../../src/testing/stand-ins/github.ts';

/** Starts the review loop with a stand-in for GitHub. */
async function onGitHub(options: LoopOptions = {}) {
  const github = await fakeGitHub();
  onTestFinished(() => github.stop());
  return { github, ...(await reviewLoop({ ...options, env: { GITHUB_TOKEN: github.token }, config: github.config })) };
}

const answers = (notes: readonly Body[], tool: string): Body[] => notes.filter((note) => note.tool === tool && note.answer).map(({ answer }) => answer);
const heard = (notes: readonly Body[]): Body[] => notes.filter((note) => note.heard);

test('after three rounds of review the pull request is merged and no files or processes are left; a restarted server finds its running agents', async () => {
  const { github, repository, origin, ...loop } = await onGitHub({ plan: { verdicts: ['needs_work', 'suggestions', 'approve'], heldUntil: 'released' } });
  const { instance } = await loop.start('--type', 'coding', '--issue', '7');
  expect(instance).toMatchObject({ id: 'work-7-a1', status: 'started', branch: 'work/work-7-a1', session_kind: 'tmux' });
  const id = instance.id as string;
  await loop.until('it waits for its review', () => answers(loop.notes(id), 'request_review').length === 1);
  const [{ pid }] = loop.notes(id);
  await loop.killAndStartAgain();
  expect(isAlive(pid)).toBe(true);
  loop.release();
  await loop.until('it has received the news of its pull request', () => heard(loop.notes(id)).length === 3);
  expect(loop.notes(id)[0]).toMatchObject({ pid });
  expect(loop.notes(id).filter(({ started }) => started)).toHaveLength(1);

  expect(heard(loop.notes(id)).map(({ feedback }) => feedback)).toEqual([
    expect.stringContaining('Fix item 1'),
    expect.stringContaining('Fix item 2'),
    expect.stringContaining('Fix item 2'),
  ]);
  expect(['review-7-a1', 'review-7-a2', 'review-7-a3'].map((review) => loop.notes(review)[1].reviewing)).toEqual(['Round 1', 'Round 2', 'Round 3']);
  const shown = await loop.show(id);
  expect(shown.instance).toMatchObject({ status: 'pr_created', reviews: 3, failed_reviews: 1, pr_number: 1 });
  expect(shown.relationships.map(({ outcome }: Body) => outcome)).toEqual(['needs_work', 'suggestions', 'approved']);
  expect(github.pulls).toMatchObject([{ head: instance.branch, base: 'main', state: 'open', title: 'Approved in round 3' }]);
  expect(repository.git(['rev-parse', instance.branch])).toBe(repository.git(['rev-parse', instance.branch], origin));

  github.merge(1);
  await loop.until('the agents are gone', async () => (await loop.show(id)).instance.ended_at !== null && (await loop.sessions()).length === 0);
  expect((await loop.show(id)).instance).toMatchObject({ status: 'pr_merged', kept_reason: null });
  expect(isAlive(pid)).toBe(false);
  expect(repository.onDisk()).toEqual([]);
  expect(repository.branches()).toEqual(['main']);
}, 120_000);

test('if a reviewer is silent or dead, its review ends; at the limit of two reviews, the coder opens the pull request itself; a planner creates issues', async () => {
  const issues = [
    { title: 'First', body: 'Do it.', labels: ['bug'] },
    { title: 'Second', body: 'Do it too.' },
  ];
  const { github, ...loop } = await onGitHub({ plan: { verdicts: ['wait', 'die'], issues } });
  await loop.run('settings', 'set', 'review.max_iterations', '2');
  const { instance } = await loop.start('--type', 'coding', '--issue', '8');
  const planner = (await loop.start('--type', 'planning', '--prompt', 'Plan it.')).instance.id;
  const id = instance.id as string;
  await loop.until('it waits', async () => (await loop.show(id)).instance.status === 'waiting_review');
  await loop.until('the issues exist', () => answers(loop.notes(planner), 'create_issues').length === 1);
  expect(github.issues.map(({ title }) => title)).toEqual(['First', 'Second']);
  loop.later(25 * HOUR);
  await loop.until('its pull request is open', async () => (await loop.show(id)).instance.status === 'pr_created');
  const { relationships } = await loop.show(id);
  expect(relationships.map(({ outcome }: Body) => outcome)).toEqual(['timeout', 'ended']);
  expect(heard(loop.notes(id))).toHaveLength(2);
  expect(github.pulls).toMatchObject([{ title: 'All rounds', head: instance.branch }]);
  github.close(github.pulls[0]?.number as number);
  await loop.until('the server knows that it was closed', async () => (await loop.show(id)).instance.status === 'pr_closed');
}, 120_000);

test('without tmux, agents run without a terminal and are restarted for their feedback; without GITHUB_TOKEN only the pull request tool fails', async () => {
  const loop = await reviewLoop({ plan: { verdicts: ['needs_work', 'approve'] }, tmux: false, env: { GITHUB_TOKEN: '' } });
  const { instance } = await loop.start('--type', 'coding', '--issue', '9');
  expect(instance.session_kind).toBe('process');
  await loop.until('the second reviewer has its answer', () => answers(loop.notes('review-9-a2'), 'create_pull_request').length === 1);
  expect(loop.notes(instance.id).filter(({ started }) => started)).toMatchObject([
    { interactive: false },
    { argv: [expect.stringContaining('REVIEW_FEEDBACK.md')] },
  ]);
  expect(answers(loop.notes('review-9-a2'), 'create_pull_request')).toMatchObject([
    { message: expect.stringContaining('GITHUB_TOKEN'), suggestion: expect.any(String) },
  ]);
  expect((await covenant(loop.at, 'instances', 'attach', instance.id)).stderr).toContain('logs');
  expect((await loop.run('instances', 'stop', instance.id)).worktree).toBe('kept');
}, 120_000);

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import { createAgentHost } from '../../../machine/agent-sessions/agent-host.ts';
import { signalAll } from '../../../machine/process/group.ts';
import { testApp } from '../../../testing/app.ts';
import { SLEEPER } from '../../../testing/config.ts';
import { endTmux, processesWith } from '../../../testing/programs/processes.ts';
import { startSteppingCaller } from '../../../testing/programs/stepping-caller.ts';
import { temporaryRepository } from '../../../testing/scenes/repository.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';
import { temporaryDatabase } from '../../../testing/store/database.ts';
import { until } from '../../../testing/until.ts';
import { issueInstanceToken } from '../../core/identity/index.ts';

/** The tests may take longer under `npm run prove`. */
const PROVE = process.env.COVENANT_PROVE === '1';
/** At how many steps of each call the process is killed. Not every step is tried by default, because each try starts a process. */
const TRIED = 3;

/** Returns evenly distributed steps, including the first and the last step. */
const points = (steps: number): number[] =>
  PROVE
    ? Array.from({ length: steps }, (_, index) => index + 1)
    : Array.from({ length: TRIED }, (_, index) => 1 + Math.round((index * (steps - 1)) / (TRIED - 1)));

/** A server with idle agents in real sessions. A separate process makes the calls of the agents and can be killed. */
async function place() {
  const database = await temporaryDatabase();
  onTestFinished(() => {
    endTmux(database.home);
    signalAll(processesWith(database.home), 'SIGKILL');
  });
  const repository = temporaryRepository();
  const t = await testApp({ database, launchers: { sleeper: SLEEPER } });
  t.app.servesAt('http://127.0.0.1:9');
  await t.done('settings.set', { key: 'review.max_iterations', value: 100 });
  const reader = t.app.store.reader;
  const host = createAgentHost(database.home);
  const tokenOf = async (id: string) =>
    (await t.app.store.write(DEFAULT_WORKSPACE_ID, (tx) => issueInstanceToken(tx, { id, developer_id: null }, 'operator'))).value;
  return {
    t,
    repository,
    /** Waits until everything that a dead process began is finished or undone. */
    async settled(): Promise<void> {
      await until(async () => {
        t.clock.advance(6_000);
        for (const table of ['instances', 'review_feedback'] as const) {
          expect(await reader.selectFrom(table).select('id').where('step', 'is not', null).execute()).toEqual([]);
        }
      });
    },
    async ok(tool: string, args: object, id: string): Promise<Body> {
      const authenticated = await t.app.authenticate(await tokenOf(id), 'bearer');
      if (!('principal' in authenticated)) throw new Error('token refused');
      const { body, isError } = await t.app.dispatch.tool({ name: tool, args, principal: authenticated.principal, surface: 'api' });
      expect(isError, JSON.stringify(body)).toBe(false);
      return body;
    },
    /** Runs the call in a separate process. Returns its answer and number of steps, or null if it was killed before one of them. */
    async call(tool: string, args: object, id: string, dieBefore?: number): Promise<{ body: Body; steps: number } | null> {
      const caller = await startSteppingCaller(t, await tokenOf(id));
      const answer = await caller.call(tool, args, dieBefore);
      await caller.end();
      return answer;
    },
    async coding(issue: number): Promise<Body> {
      const { id } = await t.done('instances.start', { repository_path: repository.path, type: 'coding', issue, agent: 'sleeper' });
      const row = await reader
        .selectFrom('instances')
        .selectAll()
        .where('id', '=', id as string)
        .executeTakeFirstOrThrow();
      repository.commit('work.txt', 'committed\n', row.worktree_path);
      return row;
    },
    reviewsOf: async (id: string): Promise<Body[]> =>
      await reader.selectFrom('instance_relationships').selectAll().where('parent_instance', '=', id).orderBy('review_iteration').execute(),
    feedbackOf: async (id: string): Promise<Body[]> => await reader.selectFrom('review_feedback').selectAll().where('review_instance', '=', id).execute(),
    messagesTo: async (agent: string): Promise<number> => (await reader.selectFrom('messages').select('id').where('recipient_id', '=', agent).execute()).length,
    /** Returns everything that exists of the instances: active records, sessions, worktrees and branches. */
    async there() {
      const rows = await reader.selectFrom('instances').select(['id', 'status']).where('ended_at', 'is', null).orderBy('id').execute();
      const branches = repository.branches().flatMap((name) => (name === 'main' ? [] : [name.slice(name.indexOf('/') + 1)]));
      const sessions = (await (await host.sessions()).names()).sort();
      return {
        rows: Object.fromEntries(rows.map(({ id, status }) => [id, status])),
        sessions,
        worktrees: repository.onDisk().sort(),
        branches: branches.sort(),
      };
    },
  };
}

/** The number of polls until a session exists varies, so the last step of one call may not exist in another. */
function expectKilled(answer: { steps: number } | null, point: number): void {
  if (answer !== null) expect(answer.steps, `step ${point}`).toBeLessThan(point);
}

const all = (ids: readonly string[]) => ({ sessions: [...ids].sort(), worktrees: [...ids].sort(), branches: [...ids].sort() });

test('if a process is killed before any step of request_review, the review exists completely or not at all [review.request.failure-undone]', {
  timeout: PROVE ? 1_800_000 : 120_000,
}, async () => {
  const { t, settled, call, coding, reviewsOf, there } = await place();
  const { id } = await coding(1);
  const { steps } = (await call('request_review', {}, id)) as { steps: number };
  await t.done('instances.stop', { instance_id: 'review-1-a1' });
  let ran = 1;
  for (const point of points(steps)) {
    expectKilled(await call('request_review', {}, id, point), point);
    await settled();
    const reviews = await reviewsOf(id);
    const [open, ...more] = reviews.filter(({ ended_at }) => ended_at === null).map(({ child_instance }) => child_instance as string);
    expect(more, `step ${point}`).toEqual([]);
    const rows = open === undefined ? { [id]: 'started' } : { [id]: 'waiting_review', [open]: 'started' };
    expect(await there(), `step ${point} of ${steps}`).toEqual({ rows, ...all(open === undefined ? [id] : [id, open]) });
    ran += open === undefined ? 0 : 1;
    expect(reviews.map(({ review_iteration }) => review_iteration)).toEqual(Array.from({ length: ran }, (_, index) => index + 1));
    if (open !== undefined) await t.done('instances.stop', { instance_id: open });
  }
  // Some calls were killed late enough for the sweep to finish them.
  expect(ran).toBeGreaterThan(1);
});

test('if a process is killed before any step of send_feedback, the feedback is delivered once or can be sent again; uncommitted changes of the coding agent stay [review.feedback.keeps-uncommitted]', {
  timeout: PROVE ? 1_800_000 : 120_000,
}, async () => {
  const { repository, settled, ok, call, coding, feedbackOf, messagesTo, there } = await place();
  const { id, worktree_path: path, agent_id, branch_name } = await coding(1);
  const { git, write } = repository;
  write('work.txt', 'staged\n', path);
  git(['add', '--', 'work.txt'], path);
  write('work.txt', 'edited\n', path);
  write('new.txt', 'untracked\n', path);
  const uncommitted = () => [
    git(['status', '--porcelain=v2', '--', 'work.txt', 'new.txt'], path),
    git(['show', ':work.txt'], path),
    ...['work.txt', 'new.txt'].map((file) => readFileSync(join(path, file), 'utf8')),
  ];
  const words = (round: number) => ({ feedback: `Round ${round}`, feedback_type: 'suggestions' });
  const review = async () => (await ok('request_review', {}, id)).review_instance_id as string;
  const { steps } = (await call('send_feedback', words(0), await review())) as { steps: number };
  await settled();
  for (const point of points(steps)) {
    const reviewer = await review();
    const [before, told] = [uncommitted().slice(1), await messagesTo(agent_id)];
    expectKilled(await call('send_feedback', words(point), reviewer, point), point);
    await settled();
    // The process was killed before it stored the feedback, so the feedback was never sent.
    if ((await feedbackOf(reviewer)).length === 0) {
      expect((await there()).rows, `step ${point}`).toEqual({ [id]: 'waiting_review', [reviewer]: 'started' });
      await ok('send_feedback', words(point), reviewer);
      await settled();
    }
    expect(await feedbackOf(reviewer), `step ${point} of ${steps}`).toMatchObject([{ delivered: 'merged', git_commit_hash: git(['rev-parse', branch_name]) }]);
    expect(await there(), `step ${point}`).toEqual({ rows: { [id]: 'started' }, ...all([id]) });
    expect(await messagesTo(agent_id), `step ${point}`).toBe(told + 1);
    expect(uncommitted().slice(1), `step ${point}`).toEqual(before);
    expect(
      git(['status', '--porcelain'], path)
        .split('\n')
        .map((line) => line.trim()),
      `step ${point}`,
    ).toEqual(['MM work.txt', '?? new.txt']);
    expect(readFileSync(join(path, 'REVIEW_FEEDBACK.md'), 'utf8')).toContain(`Round ${point}`);
    expect(git(['diff', '--name-only', 'HEAD^1', 'HEAD'], path)).toBe('REVIEW_FEEDBACK.md');
    expect(
      readdirSync(git(['rev-parse', '--absolute-git-dir'], path)).filter((name) => /covenant|lock/.test(name)),
      `step ${point}`,
    ).toEqual([]);
  }
});

import { rmSync } from 'node:fs';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type FileDisk, fileDisk } from '../../../machine/files.ts';
import { type GitDisk, gitDisk } from '../../../machine/git/disk.ts';
import { testClock } from '../../../testing/clock.ts';
import { type InstanceApp, type InstanceAppOptions, instanceApp } from '../../../testing/scenes/instances.ts';
import { type TestRepository, temporaryRepository } from '../../../testing/scenes/repository.ts';
import { type PretendedHost, pretendedHost } from '../../../testing/scenes/sessions.ts';
import { type TestDatabase, temporaryDatabase } from '../../../testing/store/database.ts';
import { until } from '../../../testing/until.ts';

type Moment = 'before' | 'after';
type Dying = { readonly options: Partial<InstanceAppOptions>; readonly died: Promise<void> };

const releases: (() => void)[] = [];

/** A simulated machine on which the server stops at this step and never continues, as if the server were killed. */
function dying<Part extends object>(part: Part, step: keyof Part, moment: Moment): { part: Part; died: Promise<void> } {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const real = part[step] as (...args: unknown[]) => Promise<unknown>;
  const fatal = async (...args: unknown[]) => {
    if (moment === 'after') await real(...args);
    resolve();
    // When the test closes the app, the app waits for its sweeps. This call must therefore be able to end.
    return await new Promise<never>((_, reject) => releases.push(() => reject(new Error('the server is dead'))));
  };
  return { part: { ...part, [step]: fatal }, died };
}

const inGit = (step: keyof GitDisk, moment: Moment) => (): Dying => {
  const { part: disk, died } = dying(gitDisk, step, moment);
  return { options: { disk }, died };
};
const inFiles = (step: keyof FileDisk, moment: Moment) => (): Dying => {
  const { part: files, died } = dying(fileDisk, step, moment);
  return { options: { files }, died };
};
const inSession = (step: 'start' | 'end', moment: Moment) => async (): Promise<Dying> => {
  const { part, died } = dying(await host.sessions(), step, moment);
  return { options: { host: { ...host, sessions: async () => part } }, died };
};

let repository: TestRepository;
let database: TestDatabase;
let host: PretendedHost;
/**
 * A time that is longer than any step may take. In this test, the process of a dead server still exists. Other servers therefore notice its death only
 * when this time has passed.
 */
const TOO_LONG = 200_000;
const BEGIN = Date.UTC(2026, 0, 1);

beforeEach(async () => {
  repository = temporaryRepository();
  database = await temporaryDatabase();
  host = pretendedHost();
});

const server = (options: Partial<InstanceAppOptions> = {}): Promise<InstanceApp> => instanceApp({ database, repository, host, ...options });
const START = { type: 'coding', issue: 7, agent: 'tiny' };

/** The first server dies during `call`. Each of the next servers takes over from the one before it and dies one step later. */
async function dieAtEach(fatal: readonly (() => Dying | Promise<Dying>)[], call: (t: InstanceApp) => Promise<unknown>): Promise<InstanceApp> {
  let begun = call;
  for (const [number, next] of fatal.entries()) {
    const { options, died } = await next();
    // Each server has a separate clock, so that no time passes for the sweeps of dead servers.
    const dead = await server({ ...options, clock: testClock(BEGIN + number * TOO_LONG) });
    onTestFinished(() => {
      for (const release of releases.splice(0)) release();
    });
    void begun(dead).catch(() => {});
    await died;
    begun = async (t) => t.clock.advance(1);
  }
  return await server({ clock: testClock(BEGIN + fatal.length * TOO_LONG) });
}

describe('if a server dies while it starts an instance', () => {
  test('the unfinished instance stays hidden, and another server finishes the start from any step', async () => {
    const steps = [
      inGit('addWorktree', 'before'),
      inGit('addWorktree', 'after'),
      inFiles('makeFolder', 'before'),
      inFiles('replaceFile', 'after'),
      inSession('start', 'before'),
      inSession('start', 'after'),
    ];
    const app = await dieAtEach(steps, (t) => t.action('instances.start', { ...START, repository_path: repository.path }));
    expect(await app.done('instances.list', {})).toEqual({ items: [], total: 0 });
    expect((await app.action('instances.stop', { instance_id: 'work-7-a1' })).body).toMatchObject({ code: 'BUSY' });
    await app.later(1);
    expect(await app.done('instances.list', {})).toMatchObject({ items: [{ id: 'work-7-a1', status: 'started', running: true }], total: 1 });
    // Only one session was started, and its token is valid. The tokens of earlier attempts are revoked.
    expect([host.started.length, [...host.running.keys()]]).toEqual([1, ['work-7-a1']]);
    expect((await app.as('work-7-a1')).principal.instanceId).toBe('work-7-a1');
    expect(await app.events({ kind: 'token.revoked' })).toHaveLength(1);
    expect(repository.worktrees()).toEqual([`${repository.path}-worktrees/work-7-a1`]);
    expect(repository.git(['status', '--porcelain', '--untracked-files=all'], repository.worktrees()[0])).toBe('');
    expect(await app.events({ kind: 'instance.started' })).toHaveLength(1);
    expect(await app.done('instances.stop', { instance_id: 'work-7-a1' })).toMatchObject({ worktree: 'removed' });
  });

  test('and its repository is deleted, the undone start stays on record as ended until a forced clean', async () => {
    const app = await dieAtEach([inGit('addWorktree', 'before')], (t) => t.action('instances.start', { ...START, repository_path: repository.path }));
    rmSync(repository.path, { recursive: true });
    await app.later(1);
    const rows = await app.app.store.reader.selectFrom('instances').select(['id', 'status', 'kept_reason']).execute();
    // Without the repository the server cannot check that nothing was created, so it keeps the instance on record as ended.
    expect(rows).toEqual([{ id: 'work-7-a1', status: 'terminated', kept_reason: expect.any(String) }]);
    expect(await app.done('instances.clean', { instance_id: 'work-7-a1', force: true })).toMatchObject({ worktree: 'removed', backup_ref: null });
    expect(host.started).toEqual([]);
  });

  test('and the start has already failed, another server finishes undoing the start', async () => {
    const addWorktree: GitDisk['addWorktree'] = async (...args) => {
      await gitDisk.addWorktree(...args);
      throw new Error('disk full');
    };
    const { part, died } = dying(gitDisk, 'removeWorktree', 'before');
    const dead = await server({ disk: { ...part, addWorktree } });
    void dead.action('instances.start', { ...START, repository_path: repository.path }).catch(() => {});
    await died;
    // The start would succeed now, but its caller has already received the failure.
    const app = await server();
    await app.later(TOO_LONG);
    expect(await app.app.store.reader.selectFrom('instances').selectAll().execute()).toEqual([]);
    expect([repository.onDisk(), repository.branches(), host.started]).toEqual([[], ['main'], []]);
  });
});

describe('if a server dies while it ends an instance', () => {
  test('the status is set immediately, and another server finishes the end from any step', async () => {
    const stop = async (t: InstanceApp) => {
      await t.done('instances.start', { ...START, repository_path: repository.path });
      await t.action('instances.stop', { instance_id: 'work-7-a1' });
    };
    const steps = [
      inSession('end', 'before'),
      inSession('end', 'after'),
      inGit('worktreeState', 'after'),
      inGit('removeWorktree', 'after'),
      inGit('deleteBranch', 'after'),
    ];
    const app = await dieAtEach(steps, stop);
    expect(await app.done('instances.list', {})).toMatchObject({ items: [{ status: 'terminated', running: false }] });
    await app.later(1);
    expect([host.running.size, repository.onDisk(), repository.branches()]).toEqual([0, [], ['main']]);
    expect(await app.instance('work-7-a1')).toMatchObject({ status: 'terminated', kept_reason: null, step: null, ended_at: app.clock.now() });
    expect(await app.events({ kind: 'instance.ended' })).toHaveLength(1);
    expect(await app.events({ kind: 'token.revoked' })).toHaveLength(1);
  });

  test('during a forced removal, the work is in a backup, even if the removal is restarted several times', async () => {
    const app = await dieAtEach([inGit('backUp', 'after')], async (t) => {
      await t.coding();
      await t.done('instances.stop', { instance_id: 'work-7-a1' });
      await t.action('instances.clean', { instance_id: 'work-7-a1', force: true });
    });
    await app.later(1);
    const { backup_ref } = await app.instance('work-7-a1');
    expect(repository.git(['show', `${backup_ref}:work-7-a1.txt`])).toBe('work');
    expect([repository.onDisk(), repository.branches()]).toEqual([[], ['main']]);
  });
});

/** Runs sweeps until the condition is true. */
const sweptUntil = (t: InstanceApp, holds: () => Promise<void>): Promise<void> =>
  until(async () => {
    t.clock.advance(5_000);
    await holds();
  });

describe('an agent that ends by itself', () => {
  test('is detected; if its work was being reviewed, the agent restarts with the news when the review is over [review.state.matches-reality]', async () => {
    const t = await server();
    const lone = await t.coding({ issue: 1 });
    const waiting = await t.coding();
    const review = await t.review(waiting.id);
    host.dies(lone.id);
    host.dies(waiting.id);
    await sweptUntil(t, async () => {
      expect((await t.instance(waiting.id)).pid).toBe(null);
    });
    await t.later(5_000);
    expect(await t.instance(lone.id)).toMatchObject({
      status: 'terminated',
      status_reason: 'its agent ended with code 0',
      kept_reason: expect.stringContaining('1 commit'),
    });
    expect(await t.done('instances.show', { instance_id: waiting.id })).toMatchObject({ instance: { status: 'waiting_review', running: false } });

    await t.done('instances.stop', { instance_id: review.id });
    await sweptUntil(t, async () => {
      expect(await t.instance(waiting.id)).toMatchObject({ status: 'started', step: null, news: null, pid: expect.any(Number) });
    });
    const again = host.started.at(-1);
    expect([again?.name, again?.args[1]]).toEqual([waiting.id, expect.stringContaining('Your review was stopped')]);
    expect(await t.done('instances.show', { instance_id: waiting.id })).toMatchObject({ instance: { status: 'started', running: true } });
    // The restarted agent gets a new token, because the value of the earlier token was never stored.
    expect((await t.as(waiting.id)).principal.instanceId).toBe(waiting.id);
  });

  test('does not leave its coding agent waiting if it was the reviewer', async () => {
    const t = await server();
    const work = await t.coding();
    const review = await t.review(work.id);
    host.dies(review.id);
    await sweptUntil(t, async () => {
      expect(await t.instance(review.id)).toMatchObject({ status: 'terminated', step: null, ended_at: expect.any(Number) });
    });
    expect(await t.instance(work.id)).toMatchObject({ status: 'started' });
    expect(await t.relationships(work.id)).toMatchObject([{ outcome: 'ended' }]);
    expect(await t.messages(work.id)).toMatchObject([{ subject: 'Your review ended without feedback' }]);
    expect(repository.worktrees()).toEqual([work.worktree_path]);
  });
});

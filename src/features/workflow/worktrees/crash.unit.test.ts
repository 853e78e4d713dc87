import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type GitDisk, gitDisk } from '../../../machine/git/disk.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { RepositoryUnfit } from '../../../machine/git/repository.ts';
import { testClock } from '../../../testing/clock.ts';
import { type TestRepository, temporaryRepository } from '../../../testing/scenes/repository.ts';
import { type Body, type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';
import { type TestDatabase, temporaryDatabase } from '../../../testing/store/database.ts';
import { until } from '../../../testing/until.ts';
import { ELSEWHERE_MS } from './step.ts';

type Step = keyof GitDisk;
type Moment = 'before' | 'after';

/** A disk on which the server stops at this step, as if it were killed. All other steps run on the real disk. */
function dying(step: Step, moment: Moment, first: (path: string) => void = () => {}): { disk: GitDisk; died: Promise<void> } {
  const { promise: died, resolve } = Promise.withResolvers<void>();
  const real = gitDisk[step] as (...args: unknown[]) => Promise<unknown>;
  const fatal = async (...args: unknown[]) => {
    if (moment === 'after') await real(...args);
    first(args.find((arg): arg is { path: string } => typeof arg === 'object' && arg !== null && 'path' in arg)?.path ?? '');
    resolve();
    return await new Promise<never>(() => {});
  };
  return { disk: { ...gitDisk, [step]: fatal }, died };
}

let repository: TestRepository;
let database: TestDatabase;
const HALF = 60_000;

beforeEach(async () => {
  repository = temporaryRepository();
  database = await temporaryDatabase();
});

const server = (disk?: GitDisk): Promise<WorkflowApp> => workflowApp({ database, clock: testClock(), ...(disk ? { disk } : {}) });
const planned = (app: WorkflowApp) => app.planned(['one'], { workflow: { repository_path: repository.path, auto_create_workspaces: true } });
const workspaceOf = async (app: WorkflowApp, workflow_id: string): Promise<Body> => (await app.ok('workspace_list', { workflow_id })).workspaces[0];

/** Waits until the lease of the step has expired. In the meantime, the agent sends heartbeats or stays silent. */
async function later(app: WorkflowApp, heartbeatOf?: string): Promise<void> {
  app.clock.advance(HALF);
  if (heartbeatOf) await app.ok('agent_heartbeat', { agent_id: heartbeatOf });
  app.clock.advance(HALF + 1);
}

async function stepsDone(app: WorkflowApp): Promise<void> {
  await until(async () => {
    const rows = await app.app.store.reader.selectFrom('worktrees').select('step').where('step', 'is not', null).execute();
    expect(rows).toEqual([]);
  });
}

interface Dead {
  app: WorkflowApp;
  workflow_id: string;
  task_id: string;
  agent_id: string;
}

/** The server dies during a claim. Then another server, with the disk `found`, starts and finds the unfinished step. */
async function claimAndDie(step: Step, moment: Moment, first?: (path: string) => void, found?: GitDisk): Promise<Dead> {
  const { disk, died } = dying(step, moment, first);
  const dead = await server(disk);
  const { workflow_id, ids } = await planned(dead);
  const [task_id, agent_id] = [ids.one as string, await dead.agent()];
  void dead.tool('task_claim', { task_id, agent_id }, dead.ana).catch(() => {});
  await died;
  return { app: await server(found), workflow_id, task_id, agent_id };
}

const CREATING: [string, Step, Moment][] = [
  ['before git creates it', 'addWorktree', 'before'],
  ['after git created it', 'addWorktree', 'after'],
];

describe('if a server dies while it creates a worktree', () => {
  test.each(CREATING)('%s, another server finishes the creation if the agent is still online', async (_, step, moment) => {
    const { app, workflow_id, task_id, agent_id } = await claimAndDie(step, moment);
    expect(await app.refused('task_claim', { task_id, agent_id })).toMatchObject({ code: 'WORKTREE_PENDING' });
    await later(app, agent_id);
    await stepsDone(app);
    const workspace = await workspaceOf(app, workflow_id);
    expect(workspace).toMatchObject({ status: 'active', kept_reason: null, task_ids: [task_id] });
    expect(await app.task(task_id)).toMatchObject({ assigned_agent_id: agent_id, workspace_id: workspace.id });
    const { path } = workspace;
    expect(repository.worktrees()).toEqual([path]);
    expect((await app.ok('task_claim', { task_id, agent_id })).workspace.id).toBe(workspace.id);
  });

  test.each(CREATING)('%s, another server undoes the creation if the agent has gone silent', async (_, step, moment) => {
    const { app, workflow_id, task_id } = await claimAndDie(step, moment);
    app.clock.advance(95_000);
    await until(async () => expect((await app.task(task_id)).assigned_agent_id).toBe(null));
    app.clock.advance(30_000);
    await stepsDone(app);
    expect(await workspaceOf(app, workflow_id)).toMatchObject({ status: 'abandoned', kept_reason: expect.stringContaining('the claim ended'), task_ids: [] });
    expect([repository.onDisk(), repository.worktrees(), repository.branches()]).toEqual([[], [], ['main']]);
    await app.claimed(task_id);
    expect(repository.worktrees()).toEqual([(await workspaceOf(app, workflow_id)).path]);
  });

  test('while git is running, another server removes what git left behind and creates the worktree', async () => {
    const { app, workflow_id, task_id, agent_id } = await claimAndDie('addWorktree', 'after', (path) => {
      rmSync(join(path, 'file-0.txt'));
      writeFileSync(join(repository.path, '.git/worktrees', basename(path), 'locked'), 'initializing\n');
    });
    await later(app, agent_id);
    await stepsDone(app);
    const workspace = await workspaceOf(app, workflow_id);
    expect([workspace.status, existsSync(join(workspace.path, 'file-0.txt'))]).toEqual(['active', true]);
    expect((await app.task(task_id)).workspace_id).toBe(workspace.id);
  });

  test('before anything was recorded, the agent can claim again and gets the worktree', async () => {
    const { app, task_id, agent_id } = await claimAndDie('startingPoint', 'before');
    expect((await app.ok('task_claim', { task_id, agent_id })).workspace.path).toBe(repository.worktrees()[0]);
  });

  test('and the claim is released meanwhile, another server removes the worktree', async () => {
    const { app, workflow_id, task_id, agent_id } = await claimAndDie('addWorktree', 'after');
    await app.ok('task_release', { task_id, agent_id });
    expect(await app.refused('task_claim', { task_id, agent_id })).toMatchObject({ code: 'WORKTREE_PENDING' });
    expect((await app.task(task_id)).assigned_agent_id).toBe(null);
    await later(app, agent_id);
    await stepsDone(app);
    expect((await workspaceOf(app, workflow_id)).status).toBe('abandoned');
    expect([repository.onDisk(), repository.branches()]).toEqual([[], ['main']]);
    await app.claimed(task_id);
  });

  test('and the repository is deleted from the machine, the creation is undone and the reason is stored', async () => {
    const { app, workflow_id, task_id, agent_id } = await claimAndDie('addWorktree', 'before');
    rmSync(repository.path, { recursive: true });
    await later(app, agent_id);
    app.clock.advance(ELSEWHERE_MS);
    await stepsDone(app);
    expect(await workspaceOf(app, workflow_id)).toMatchObject({ status: 'abandoned', kept_reason: expect.stringContaining('does not exist') });
    expect((await app.task(task_id)).assigned_agent_id).toBe(null);
  });

  test('a server on a machine without the repository leaves the step to a server that has it', async () => {
    let asked = 0;
    const locateRepository: GitDisk['locateRepository'] = async () => {
      asked++;
      throw new RepositoryUnfit('missing', 'there is no folder');
    };
    const { workflow_id, task_id, agent_id, app: elsewhere } = await claimAndDie('addWorktree', 'before', undefined, { ...gitDisk, locateRepository });
    await later(elsewhere, agent_id);
    await elsewhere.ok('agent_heartbeat', { agent_id });
    for (let sweep = 1; sweep <= 5; sweep++) {
      elsewhere.clock.advance(10_000);
      await until(async () => expect(asked).toBeGreaterThanOrEqual(sweep));
    }
    const app = await server();
    await app.ok('agent_heartbeat', { agent_id });
    await later(app, agent_id);
    await stepsDone(app);
    expect(await workspaceOf(app, workflow_id)).toMatchObject({ status: 'active', kept_reason: null, task_ids: [task_id] });
  });

  test('and the attempt has already failed, another server completes the undo', async () => {
    const { disk, died } = dying('discardUnfinished', 'before');
    const addWorktree: GitDisk['addWorktree'] = async (...args) => {
      await gitDisk.addWorktree(...args);
      throw new GitFailed('worktree', 128, 'disk full');
    };
    const dead = await server({ ...disk, addWorktree });
    const { workflow_id, ids } = await planned(dead);
    const [task_id, agent_id] = [ids.one as string, await dead.agent()];
    void dead.tool('task_claim', { task_id, agent_id }, dead.ana).catch(() => {});
    await died;
    const app = await server();
    await app.ok('task_release', { task_id, agent_id });
    await later(app);
    await stepsDone(app);
    expect((await workspaceOf(app, workflow_id)).status).toBe('abandoned');
    expect([repository.onDisk(), repository.branches()]).toEqual([[], ['main']]);
  });
});

describe('if the creation fails but the server keeps running', () => {
  test('after git created the worktree, nothing stays on disk, the claim is undone, and the refusal gives the reason', async () => {
    const addWorktree: GitDisk['addWorktree'] = async (...args) => {
      await gitDisk.addWorktree(...args);
      throw new GitFailed('worktree', 128, 'disk full');
    };
    const app = await server({ ...gitDisk, addWorktree });
    const { workflow_id, ids } = await planned(app);
    const refusal = await app.refused('task_claim', { task_id: ids.one, agent_id: await app.agent() });
    expect(refusal).toMatchObject({ code: 'WORKTREE_FAILED', message: expect.stringContaining('disk full') });
    expect([repository.onDisk(), repository.worktrees(), repository.branches()]).toEqual([[], [], ['main']]);
    expect(await workspaceOf(app, workflow_id)).toMatchObject({ status: 'abandoned', kept_reason: 'disk full' });
    expect((await app.task(ids.one as string)).assigned_agent_id).toBe(null);
  });

  test('because the call times out while git is running, the claim and the worktree are undone', async () => {
    const addWorktree: GitDisk['addWorktree'] = async (repository, worktree, options = {}) => {
      await gitDisk.addWorktree(repository, worktree);
      return await new Promise((_, reject) => options.signal?.addEventListener('abort', () => reject(options.signal?.reason)));
    };
    const app = await workflowApp({ database, disk: { ...gitDisk, addWorktree }, toolTimeoutMs: 1_500 });
    const { ids } = await planned(app);
    expect(await app.refused('task_claim', { task_id: ids.one, agent_id: await app.agent() })).toMatchObject({ code: 'TOOL_TIMEOUT' });
    await stepsDone(app);
    expect((await app.task(ids.one as string)).assigned_agent_id).toBe(null);
    expect([repository.onDisk(), repository.branches()]).toEqual([[], ['main']]);
  });

  test('because the claim is released while git is running, no worktree is left behind', async () => {
    const task: { release?: () => Promise<unknown> } = {};
    const addWorktree: GitDisk['addWorktree'] = async (...args) => {
      const head = await gitDisk.addWorktree(...args);
      await task.release?.();
      return head;
    };
    const app = await server({ ...gitDisk, addWorktree });
    const { ids } = await planned(app);
    const agent_id = await app.agent();
    task.release = () => app.ok('task_release', { task_id: ids.one, agent_id });
    expect(await app.refused('task_claim', { task_id: ids.one, agent_id })).toMatchObject({ code: 'STALE_CLAIM' });
    expect([repository.onDisk(), repository.branches()]).toEqual([[], ['main']]);
  });

  test("because another server took over the step, the first server does not change the other server's worktree", async () => {
    const task: { takeOver?: () => Promise<unknown> } = {};
    const addWorktree: GitDisk['addWorktree'] = async (...args) => {
      const head = await gitDisk.addWorktree(...args);
      await task.takeOver?.();
      return head;
    };
    const slow = await server({ ...gitDisk, addWorktree });
    const { workflow_id, ids } = await planned(slow);
    const agent_id = await slow.agent();
    const other = await server();
    task.takeOver = async () => {
      await later(other, agent_id);
      await stepsDone(other);
    };
    await slow.refused('task_claim', { task_id: ids.one, agent_id });
    const { status, path } = await workspaceOf(other, workflow_id);
    expect([status, repository.worktrees()]).toEqual(['active', [path]]);
    expect((await other.task(ids.one as string)).assigned_agent_id).toBe(agent_id);
  });
});

describe('if a server dies while it removes a worktree', () => {
  test.each<[string, Step, Moment]>([
    ['before it checked', 'worktreeState', 'before'],
    ['before git removes it', 'removeWorktree', 'before'],
    ['after git removed it', 'removeWorktree', 'after'],
    ['after the branch was deleted', 'deleteBranch', 'after'],
  ])('%s, another server finishes the removal', async (_, step, moment) => {
    const { disk, died } = dying(step, moment);
    const dead = await server(disk);
    const { workflow_id, ids } = await planned(dead);
    await dead.completed(ids.one as string);
    const { id } = await workspaceOf(dead, workflow_id);
    void dead.tool('workspace_update', { id, status: 'abandoned' }, dead.ana).catch(() => {});
    await died;
    const app = await server();
    expect(await app.ok('workspace_update', { id, status: 'abandoned' })).toMatchObject({ worktree: 'kept', reason: expect.stringContaining('being removed') });
    await later(app);
    await stepsDone(app);
    expect(await workspaceOf(app, workflow_id)).toMatchObject({ status: 'abandoned', kept_reason: null });
    expect([repository.onDisk(), repository.worktrees(), repository.branches()]).toEqual([[], [], ['main']]);
    expect(await app.events({ kind: 'worktree.removed' })).toHaveLength(1);
  });

  test('and new files appear in the worktree, the worktree is kept', async () => {
    const { disk, died } = dying('removeWorktree', 'before');
    const dead = await server(disk);
    const { workflow_id, ids } = await planned(dead);
    await dead.completed(ids.one as string);
    const { id, path } = await workspaceOf(dead, workflow_id);
    void dead.tool('workspace_update', { id, status: 'abandoned' }, dead.ana).catch(() => {});
    await died;
    repository.write('late.txt', 'x', path);
    const app = await server();
    await later(app);
    await stepsDone(app);
    expect((await workspaceOf(app, workflow_id)).kept_reason).toBe('1 file(s) untracked');
    expect(existsSync(join(path, 'late.txt'))).toBe(true);
  });
});

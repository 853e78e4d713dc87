import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type TestRepository, temporaryRepository } from '../../../testing/scenes/repository.ts';
import { type Body, type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';

let repository: TestRepository;
let app: WorkflowApp;

beforeEach(async () => {
  repository = temporaryRepository();
  app = await workflowApp();
});

const automatic = (path = repository.path) => ({ workflow: { repository_path: path, auto_create_workspaces: true } });
const claim = async (task_id: string | undefined, agent_id?: string): Promise<Body> =>
  await app.ok('task_claim', { task_id, agent_id: agent_id ?? (await app.agent()) });
const refusedClaim = async (task_id: string | undefined): Promise<Body> => await app.refused('task_claim', { task_id, agent_id: await app.agent() });
const workspaces = async (workflow_id: string): Promise<Body[]> => (await app.ok('workspace_list', { workflow_id })).workspaces;

describe('a claim in a workflow with auto_create_workspaces', () => {
  test('creates a real worktree with a branch from the current branch, and returns its path [task.claim.worktree]', async () => {
    const { workflow_id, ids } = await app.planned(['Write the parser'], automatic());
    const { workspace } = await claim(ids['Write the parser']);
    expect(workspace).toEqual({
      id: expect.stringMatching(/^ws_/),
      path: expect.stringMatching(/-worktrees\/write-the-parser-[0-9a-z]{6}$/),
      branch: expect.stringMatching(/^workflow\/ship-it-[0-9a-z]{6}\/write-the-parser-[0-9a-z]{6}$/),
      base_branch: 'main',
    });
    expect(workspace.path.startsWith(`${repository.path}-worktrees/`)).toBe(true);
    expect(existsSync(join(workspace.path, 'file-0.txt'))).toBe(true);
    expect(repository.git(['symbolic-ref', 'HEAD'], workspace.path)).toBe(`refs/heads/${workspace.branch}`);
    expect(repository.git(['symbolic-ref', 'HEAD'])).toBe('refs/heads/main');
    expect((await app.task(ids['Write the parser'] as string)).workspace_id).toBe(workspace.id);
    expect(await workspaces(workflow_id)).toMatchObject([
      { id: workspace.id, status: 'active', managed: true, base_commit: repository.git(['rev-parse', 'main']), task_ids: [ids['Write the parser']] },
    ]);
    expect((await app.events({ kind: 'worktree.created' })).at(-1)?.subject).toBe(workspace.id);
  });

  test('creates no worktree if auto_create_workspaces is off', async () => {
    const { ids } = await app.planned(['one'], { workflow: { repository_path: repository.path } });
    expect(await claim(ids.one)).not.toHaveProperty('workspace');
    expect(repository.onDisk()).toEqual([]);
  });

  test('many claims at the same time in one repository create as many worktrees', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { ids } = await app.planned(names, automatic());
    const agents = await Promise.all(names.map((_, index) => app.agent(index % 2 === 0 ? app.ana : app.ben)));
    const answers = await Promise.all(
      names.map((name, index) => app.ok('task_claim', { task_id: ids[name], agent_id: agents[index] }, index % 2 === 0 ? app.ana : app.ben)),
    );
    expect(new Set(answers.map(({ workspace }) => workspace.path)).size).toBe(names.length);
    expect(repository.worktrees().sort()).toEqual(answers.map(({ workspace }) => workspace.path).sort());
  });

  test('accepts a folder inside the repository and a symbolic link to it', async () => {
    mkdirSync(join(repository.path, 'packages/core'), { recursive: true });
    const link = join(temporaryFolder(), 'link');
    symlinkSync(repository.path, link);
    for (const path of [join(repository.path, 'packages/core'), link]) {
      const { ids } = await app.planned(['one'], automatic(path));
      expect((await claim(ids.one)).workspace.path.startsWith(`${repository.path}-worktrees/`)).toBe(true);
    }
  });

  test('lists dependencies whose work is not merged yet', async () => {
    const { ids } = await app.planned(['base', { name: 'next', depends_on: ['base'] }], automatic());
    await app.completed(ids.base as string);
    const { workspace_id } = await app.task(ids.base as string);
    const agent_id = await app.agent();
    expect((await claim(ids.next, agent_id)).workspace.unmerged_dependencies).toEqual([ids.base]);
    const commit = repository.git(['rev-parse', 'main']);
    await app.ok('workspace_update', { id: workspace_id, status: 'merged', merge_commit: commit });
    expect((await claim(ids.next, agent_id)).workspace).not.toHaveProperty('unmerged_dependencies');
  });
});

describe('a task that is claimed again', () => {
  test('by the same or another agent continues in its worktree, with the work in it', async () => {
    const { workflow_id, ids } = await app.planned(['one'], automatic());
    const agent_id = await app.agent();
    const first = await claim(ids.one, agent_id);
    expect((await claim(ids.one, agent_id)).workspace).toEqual(first.workspace);
    repository.write('half.txt', 'half done', first.workspace.path);
    await app.ok('task_release', { task_id: ids.one, agent_id });
    const second = await claim(ids.one);
    expect([second.workspace, second.fence > first.fence]).toEqual([first.workspace, true]);
    expect(existsSync(join(second.workspace.path, 'half.txt'))).toBe(true);
    expect(await workspaces(workflow_id)).toHaveLength(1);
  });

  test('gets its worktree created again, with its commits, if the folder was deleted', async () => {
    const { ids } = await app.planned(['one'], automatic());
    const agent_id = await app.agent();
    const { workspace } = await claim(ids.one, agent_id);
    const commit = repository.commit('own.txt', 'x', workspace.path);
    rmSync(workspace.path, { recursive: true });
    await app.ok('task_release', { task_id: ids.one, agent_id });
    expect((await claim(ids.one)).workspace).toEqual(workspace);
    expect(repository.git(['rev-parse', 'HEAD'], workspace.path)).toBe(commit);
  });

  test('gets a new worktree under another name after the old one is closed', async () => {
    const { ids } = await app.planned(['one'], automatic());
    const agent_id = await app.agent();
    const { workspace } = await claim(ids.one, agent_id);
    repository.write('half.txt', 'half done', workspace.path);
    await app.ok('task_release', { task_id: ids.one, agent_id });
    expect(await app.ok('workspace_update', { id: workspace.id, status: 'abandoned' })).toMatchObject({ worktree: 'kept' });
    const again = (await claim(ids.one)).workspace;
    expect([again.path, again.branch]).toEqual([`${workspace.path}-2`, `${workspace.branch}-2`]);
    expect(existsSync(join(workspace.path, 'half.txt'))).toBe(true);
  });

  test("uses the workspace it was assigned to, if that is the agent's own", async () => {
    const { workflow_id, ids } = await app.planned(['one'], automatic());
    const { id } = await app.ok('workspace_create', { workflow_id, path: '/home/ana/wt', branch: 'mine', task_ids: [ids.one] });
    expect((await claim(ids.one)).workspace).toEqual({ id, path: '/home/ana/wt', branch: 'mine', base_branch: null });
    expect(repository.onDisk()).toEqual([]);
  });

  test('stays claimed if it was started without a worktree and none can be created when its claim is renewed', async () => {
    const { workflow_id, ids } = await app.planned(['one'], { workflow: { repository_path: '/no/such/repository' } });
    const held = await app.started(ids.one as string);
    await app.ok('workflow_set_parallelism', { id: workflow_id, max_parallel_tasks: 2, auto_create_workspaces: true });
    const answer = await claim(ids.one, held.agent_id);
    expect([answer.success, answer.workspace]).toEqual([true, undefined]);
  });
});

describe('if no worktree can be created, the claim is undone, and the refusal gives the cause and the next step', () => {
  const outcome = async (path: string) => {
    const { workflow_id, ids } = await app.planned(['one'], automatic(path));
    const refusal = await refusedClaim(ids.one);
    expect(await app.task(ids.one as string)).toMatchObject({ status: 'pending', assigned_agent_id: null, workspace_id: null });
    expect((await workspaces(workflow_id)).filter(({ status }) => status === 'active')).toEqual([]);
    return refusal;
  };

  test.each<[string, RegExp, RegExp, () => string]>([
    ['a missing folder', /folder \/no\/such/, /server's machine.*workflow_set_parallelism.*auto_create_workspaces/, () => '/no/such'],
    ['a folder without a repository', /not a git repository/, /server's machine a git repository/, () => temporaryFolder()],
    ['a repository without a commit', /has no commit yet/, /first commit/, () => temporaryRepository({ commits: 0 }).path],
    [
      'a detached HEAD',
      /HEAD .* is detached/,
      /Check out .* branch/,
      () => {
        repository.git(['checkout', '--quiet', '--detach']);
        return repository.path;
      },
    ],
    [
      "git's own refusal",
      /refs\/heads\/workflow/,
      /what git reports/,
      () => {
        repository.git(['branch', 'workflow']);
        return repository.path;
      },
    ],
  ])('%s', async (_, message, suggestion, path) => {
    const refusal = await outcome(path());
    expect(refusal).toMatchObject({ code: 'WORKTREE_FAILED', message: expect.stringMatching(message), suggestion: expect.stringMatching(suggestion) });
    expect(repository.onDisk()).toEqual([]);
  });

  test('after the cause is gone, a new claim succeeds in the same place without a second record', async () => {
    repository.git(['branch', 'workflow']);
    const { workflow_id, ids } = await app.planned(['one'], automatic());
    await refusedClaim(ids.one);
    await refusedClaim(ids.one);
    const [failed, ...others] = await workspaces(workflow_id);
    expect([failed, others]).toMatchObject([{ status: 'abandoned', kept_reason: expect.stringContaining('refs/heads/workflow') }, []]);
    repository.git(['branch', '-D', 'workflow']);
    const { workspace } = await claim(ids.one);
    expect(await workspaces(workflow_id)).toMatchObject([{ id: failed.id, status: 'active', kept_reason: null, closed_at: null }]);
    expect([workspace.id, workspace.path]).toEqual([failed.id, failed.path]);
  });

  test('an existing folder at that path is not changed', async () => {
    const { ids } = await app.planned(['one'], automatic());
    const place = `${repository.path}-worktrees/one-${(ids.one as string).slice(-6).toLowerCase()}`;
    repository.write('mine.txt', 'mine', place);
    expect((await refusedClaim(ids.one)).message).toContain('already exists');
    expect(existsSync(join(place, 'mine.txt'))).toBe(true);
    expect(repository.branches()).toEqual(['main']);
  });

  test('a repository outside the allowed folders is not changed, not even through a symbolic link', async () => {
    const [allowed, elsewhere] = [temporaryFolder(), temporaryRepository()];
    app = await workflowApp({ repositories: [repository.path, allowed] });
    symlinkSync(elsewhere.path, join(allowed, 'link'));
    for (const path of [elsewhere.path, join(allowed, 'link'), `${repository.path}-other`]) {
      expect(await outcome(path)).toMatchObject({ code: 'REPOSITORY_NOT_ALLOWED' });
    }
    const { ids } = await app.planned(['one'], automatic());
    expect((await claim(ids.one)).workspace.path).toContain(repository.path);
  });
});

import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { gitDisk } from '../../../machine/git/disk.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';
import { type TestRepository, temporaryRepository } from '../../../testing/scenes/repository.ts';
import { type Body, type Held, type WorkflowApp, workflowApp } from '../../../testing/scenes/workflow.ts';

let repository: TestRepository;
let app: WorkflowApp;
let workflow_id: string;
let held: Held;
let workspace: Body;

beforeEach(async () => {
  repository = temporaryRepository();
  app = await workflowApp();
  const planned = await app.planned(['one'], { workflow: { repository_path: repository.path, auto_create_workspaces: true } });
  workflow_id = planned.workflow_id;
  held = await app.claimed(planned.ids.one as string);
  [workspace] = (await app.ok('workspace_list', { workflow_id })).workspaces;
});

const update = (more: object) => app.ok('workspace_update', { id: workspace.id, ...more });
const seen = async (): Promise<Body> => (await app.ok('workspace_list', { workflow_id })).workspaces[0];
const merge = (): string => {
  repository.git(['merge', '--quiet', '--no-ff', '--message', 'Merge', workspace.branch]);
  return repository.git(['rev-parse', 'HEAD']);
};

describe('a worktree that the server created', () => {
  test('is removed with its branch after its work is merged', async () => {
    repository.commit('own.txt', 'x', workspace.path);
    const merge_commit = merge();
    expect(await update({ status: 'merged', merge_commit })).toEqual({ success: true, changed: true, worktree: 'removed' });
    expect([repository.onDisk(), repository.worktrees(), repository.branches()]).toEqual([[], [], ['main']]);
    expect(existsSync(join(repository.path, 'own.txt'))).toBe(true);
    expect(await seen()).toMatchObject({ status: 'merged', merge_commit, kept_reason: null });
    expect(await update({ status: 'merged' })).toEqual({ success: true, changed: false, worktree: 'removed' });
    expect(await app.events({ kind: 'worktree.removed' })).toHaveLength(1);
  });

  test('is removed if it is abandoned and contains no work', async () => {
    expect(await update({ status: 'abandoned' })).toEqual({ success: true, changed: true, worktree: 'removed' });
    expect([repository.onDisk(), repository.branches()]).toEqual([[], ['main']]);
  });

  test.each<[string, RegExp, () => void]>([
    ['a changed file', /1 file\(s\) changed/, () => repository.write('file-0.txt', 'changed', workspace.path)],
    ['an untracked file', /1 file\(s\) untracked/, () => repository.write('new.txt', 'x', workspace.path)],
    [
      'a staged file',
      /1 file\(s\) changed/,
      () => {
        repository.write('new.txt', 'x', workspace.path);
        repository.git(['add', '.'], workspace.path);
      },
    ],
    ['an unmerged commit', /1 commit\(s\) are not in main/, () => repository.commit('own.txt', 'x', workspace.path)],
    [
      'a commit on a detached HEAD',
      /detached; 1 commit/,
      () => {
        repository.git(['checkout', '--quiet', '--detach'], workspace.path);
        repository.commit('own.txt', 'x', workspace.path);
      },
    ],
    [
      'another worktree inside it, which git does not check',
      /it contains another repository or worktree \(\.inner\/two\/\)/,
      () => {
        repository.write('.git/info/exclude', '.inner/\n');
        repository.git(['worktree', 'add', '--quiet', '-b', 'inner', join(workspace.path, '.inner/two')]);
      },
    ],
    ['a lock', /locked \(mine\)/, () => repository.git(['worktree', 'lock', '--reason', 'mine', workspace.path])],
    [
      'a merge in progress',
      /a merge is in progress/,
      () => {
        repository.git(['checkout', '--quiet', '-b', 'theirs']);
        repository.commit('t.txt', 'x');
        repository.git(['checkout', '--quiet', 'main']);
        repository.commit('m.txt', 'x');
        repository.git(['merge', '--quiet', '--no-commit', '--no-ff', 'theirs'], workspace.path);
      },
    ],
  ])('is never removed with %s', async (_, reason, change) => {
    change();
    expect(await update({ status: 'abandoned' })).toMatchObject({ success: true, changed: true, worktree: 'kept', reason: expect.stringMatching(reason) });
    expect(existsSync(join(workspace.path, '.git'))).toBe(true);
    expect(repository.branches()).toContain(workspace.branch);
    expect(await seen()).toMatchObject({ status: 'abandoned', kept_reason: expect.stringMatching(reason) });
    expect(await app.events({ kind: 'worktree.kept' })).toHaveLength(1);
  });

  test('is not removed if the merge commit is the tip of its own branch', async () => {
    const merge_commit = repository.commit('own.txt', 'x', workspace.path);
    expect(await update({ status: 'merged', merge_commit })).toMatchObject({ worktree: 'kept', reason: expect.stringContaining('1 commit(s)') });
    expect(repository.git(['rev-parse', workspace.branch])).toBe(merge_commit);
  });

  test('is kept if the only other branch with its commits is being removed at the same moment, so that no commit is lost', async () => {
    const two = await app.ok('workflow_add_task', { workflow_id, name: 'two', description: '' });
    await app.claimed(two.task_id);
    const other = (await app.ok('workspace_list', { workflow_id })).workspaces[1];
    const merge_commit = repository.commit('own.txt', 'x', workspace.path);
    repository.git(['merge', '--quiet', workspace.branch], other.path);
    const close = (id: string) => app.ok('workspace_update', { id, status: 'merged', merge_commit });
    expect(await Promise.all([close(workspace.id), close(other.id)])).toMatchObject([{ worktree: 'kept' }, { worktree: 'kept' }]);
    merge();
    expect([await close(workspace.id), await close(other.id)]).toMatchObject([{ worktree: 'removed' }, { worktree: 'removed' }]);
    expect(repository.git(['log', '--format=%H'])).toContain(merge_commit);
  });

  test('that was kept is removed by a repeated call after the obstacle is gone', async () => {
    repository.write('new.txt', 'x', workspace.path);
    await update({ status: 'abandoned' });
    expect(await update({ status: 'abandoned' })).toMatchObject({ changed: false, worktree: 'kept' });
    rmSync(join(workspace.path, 'new.txt'));
    expect(await update({ status: 'abandoned' })).toEqual({ success: true, changed: false, worktree: 'removed' });
    expect((await seen()).kept_reason).toBe(null);
  });

  test("whose folder was deleted is removed from git's list, and its branch is deleted if it has no work", async () => {
    rmSync(workspace.path, { recursive: true });
    expect(await update({ status: 'abandoned' })).toMatchObject({ worktree: 'removed' });
    expect([repository.worktrees(), repository.branches()]).toEqual([[], ['main']]);
  });

  test('is kept, with the reason, while its repository is not on this machine', async () => {
    renameSync(repository.path, `${repository.path}-moved`);
    expect(await update({ status: 'merged', merge_commit: 'abcdef1' })).toMatchObject({ worktree: 'kept', reason: expect.stringContaining('does not exist') });
    renameSync(`${repository.path}-moved`, repository.path);
  });

  test('can be closed as merged only with a commit that the repository has', async () => {
    for (const merge_commit of ['abcdef1', repository.git(['rev-parse', 'HEAD^{tree}'])]) {
      const refusal = await app.refused('workspace_update', { id: workspace.id, status: 'merged', merge_commit });
      expect(refusal).toMatchObject({ code: 'UNKNOWN_COMMIT', field: 'merge_commit', merge_commit });
    }
    expect((await seen()).status).toBe('active');
  });

  test('is kept, with the reason, while the server has no git to check the commit', async () => {
    const gone = async () => {
      throw new ProgramMissing('git');
    };
    const blind = await workflowApp({ database: app.database, disk: { ...gitDisk, locateRepository: gone } });
    const answer = await blind.ok('workspace_update', { id: workspace.id, status: 'merged', merge_commit: 'abcdef1', agent_id: held.agent_id });
    expect(answer).toMatchObject({ worktree: 'kept', reason: expect.stringContaining('git was not found') });
  });

  test("can be closed only with an agent_id of the caller's own agent", async () => {
    const close = { id: workspace.id, status: 'abandoned' };
    await app.ok('task_release', { task_id: held.task_id, agent_id: held.agent_id });
    expect(await app.refused('workspace_update', { ...close, agent_id: held.agent_id }, app.ben)).toMatchObject({ code: 'FOREIGN_AGENT', field: 'agent_id' });
    expect(await app.refused('workspace_update', { ...close, agent_id: 'ag_0' })).toMatchObject({ code: 'AGENT_NOT_FOUND', field: 'agent_id' });
    expect((await seen()).status).toBe('active');
  });

  test('can be closed only by the agent that works in it, if there is one', async () => {
    expect(await app.refused('workspace_update', { id: workspace.id, status: 'abandoned' }, app.ben)).toMatchObject({
      code: 'NOT_ASSIGNED',
      task_id: held.task_id,
    });
    expect(existsSync(workspace.path)).toBe(true);
    await app.ok('workspace_update', { id: workspace.id, status: 'abandoned', agent_id: held.agent_id });
  });

  test('can be closed by anybody if its task is unclaimed or the workflow has ended', async () => {
    await app.ok('workflow_update_status', { id: workflow_id, status: 'abandoned' });
    expect(await app.ok('workspace_update', { id: workspace.id, status: 'abandoned' }, app.ben)).toMatchObject({ worktree: 'removed' });
  });
});

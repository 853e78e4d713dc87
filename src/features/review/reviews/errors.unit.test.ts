import { expect, test, vi } from 'vitest';
import { TmuxFailed } from '../../../machine/agent-sessions/tmux.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { StoreBusy } from '../../../storage/errors.ts';
import { gitHubApp } from '../../../testing/scenes/pulls.ts';
import { pretendedHost } from '../../../testing/scenes/sessions.ts';

test('there are four review tools, and each failure has its own code [review.surface.tools] [review.error.categories]', async () => {
  const host = pretendedHost();
  const sessions = await host.sessions();
  const t = await gitHubApp({ host, agentHost: { ...host, sessions: async () => sessions } });
  const tools = t.app.registry.tools().filter(({ toolset }) => toolset === 'review');
  expect(tools.map(({ name }) => name).sort()).toEqual(['create_issues', 'create_pull_request', 'request_review', 'send_feedback']);

  const { id } = await t.coding();
  const code = async (tool = 'request_review', args: object = {}) => (await t.refused(tool, args, id)).code;
  expect(await code('request_review', { reviewer_prompt: '' })).toBe('INVALID_INPUT');
  expect((await t.action('instances.show', { instance_id: 'work-x-1' })).body.code).toBe('INVALID_INPUT');
  expect((await t.action('instances.show', { instance_id: 'work-99-a1' })).body.code).toBe('INSTANCE_NOT_FOUND');

  const failing = { start: vi.spyOn(sessions, 'start'), write: vi.spyOn(t.app.store, 'write') };
  failing.start.mockRejectedValueOnce(new TmuxFailed('no terminal'));
  expect(await code()).toBe('TMUX_FAILED');
  failing.start.mockRejectedValueOnce(new GitFailed('worktree', 128, 'disk full'));
  expect(await code()).toBe('GIT_FAILED');
  failing.write.mockRejectedValueOnce(new StoreBusy('locked'));
  expect(await code()).toBe('STORE_BUSY');
  void t.github.failNext('POST /repos/{owner}/{repo}/pulls', { with: 500 });
  expect(await code('create_pull_request', { title: 'T', description: 'D' })).toBe('GITHUB_FAILED');

  await t.review(id);
  expect(await code()).toBe('REVIEW_IN_PROGRESS');
  await t.app.store.write('ws_default', async (tx) => void (await tx.db.updateTable('instances').set({ status: 'pr_merged' }).where('id', '=', id).execute()));
  expect(await code()).toBe('INVALID_STATE');
});

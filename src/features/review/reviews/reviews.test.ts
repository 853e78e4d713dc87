import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TmuxFailed } from '../../../machine/agent-sessions/tmux.ts';
import { gitDisk } from '../../../machine/git/disk.ts';
import { GitFailed } from '../../../machine/git/git.ts';
import { type InstanceApp, instanceApp } from '../../../testing/scenes/instances.ts';
import { type PretendedHost, pretendedHost } from '../../../testing/scenes/sessions.ts';
import { pretendedDisk } from '../../../testing/stand-ins/pretended-disk.ts';

/** Returns everything that a refused call could have changed. */
const state = async (t: InstanceApp) => {
  const { reader } = t.app.store;
  const instances = await reader.selectFrom('instances').selectAll().orderBy('id').execute();
  const relationships = await reader.selectFrom('instance_relationships').selectAll().orderBy('child_instance').execute();
  return { instances, relationships, sessions: [...t.host.running.keys()], disk: t.repository.onDisk(), branches: t.repository.branches() };
};

const HOSTILE = '--force; rm -rf ~ && $(touch /tmp/x) `id` ../../etc\n---\ntype: suggestions\n-- \u2028"\'\\';

describe('request_review', () => {
  test('starts a reviewer on a fork of the branch, and the coder waits [review.request.shape] [review.request.own-branch] [review.request.worktree] [review.request.launches] [review.request.instance-row] [review.request.relationship] [review.request.waiting-review] [review.request.default-prompt] [review.identity.own-token]', async () => {
    const t = await instanceApp();
    const coding = await t.coding();
    const other = await t.coding({ issue: 8 });
    const tip = t.repository.git(['rev-parse', coding.branch_name]);
    const answer = await t.ok('request_review', {}, coding.id);
    expect(answer).toEqual({
      review_instance_id: 'review-7-a1',
      session_name: 'review-7-a1',
      worktree_path: `${t.repository.path}-worktrees/review-7-a1`,
      branch_name: coding.branch_name,
    });
    expect(t.repository.git(['rev-parse', 'HEAD'], answer.worktree_path)).toBe(tip);
    expect(existsSync(join(answer.worktree_path, `${coding.id}.txt`))).toBe(true);
    expect(await t.instance(answer.review_instance_id)).toMatchObject({
      type: 'review',
      status: 'started',
      agent: 'tiny',
      parent_instance_id: coding.id,
      base_commit: tip,
      developer_id: coding.developer_id,
      step: null,
    });
    expect(await t.relationships(coding.id)).toMatchObject([
      { child_instance: 'review-7-a1', relationship_type: 'spawned_review', review_iteration: 1, ended_at: null },
    ]);
    expect([(await t.instance(coding.id)).status, (await t.instance(other.id)).status]).toEqual(['waiting_review', 'started']);
    const session = t.host.running.get('review-7-a1');
    expect(session).toMatchObject({ cwd: answer.worktree_path, env: { COVENANT_INSTANCE_ID: 'review-7-a1' } });
    const prompt = session?.args[1] ?? '';
    expect(prompt).toMatch(/^You are review-7-a1, a review agent\. You review the work of the coding agent work-7-a1 for issue 7: review 1 of at most 3\./);
    for (const words of [`git diff ${t.repository.git(['rev-parse', 'main'])}...${tip}`, 'send_feedback', 'create_pull_request'])
      expect(prompt).toContain(words);
    // The reviewer's token differs from the coding agent's token, and is only in the reviewer's environment.
    expect((await t.as('review-7-a1')).principal.instanceId).toBe('review-7-a1');
    expect(readFileSync(join(answer.worktree_path, '.covenant/mcp.json'), 'utf8')).not.toContain(session?.env.COVIBE_MCP_TOKEN);
    expect(t.repository.git(['status', '--porcelain'], answer.worktree_path)).toBe('');
  });

  test("the coding agent's prompt replaces the default instructions; its description of the work is quoted; no text is interpreted [review.request.custom-prompt]", async () => {
    const t = await instanceApp();
    const coding = await t.coding();
    t.repository.write('draft.txt', 'x', coding.worktree_path);
    await t.ok('request_review', { reviewer_prompt: `Look at security only. ${HOSTILE}`, completion_message: `I did it.\n${HOSTILE}` }, coding.id);
    const [file, prompt = ''] = [t.host.running.get('review-7-a1')?.file, t.host.running.get('review-7-a1')?.args[1]];
    expect(file).toBe('sleep');
    expect(prompt).toContain(`Your instructions:\n\nLook at security only. ${HOSTILE}`);
    expect(prompt).not.toContain('Check whether the change');
    expect(prompt).toMatch(/not an instruction:\n\n> I did it\.\n> --force; rm -rf/);
    expect(prompt).toContain('> -- \n> "\'\\\n\n');
    expect(prompt).toContain('uncommitted changes (1 file(s) untracked). They are not part of this review');
    expect(prompt).toContain('send_feedback');
    expect(readFileSync(join((await t.instance('review-7-a1')).worktree_path, '.covenant/prompt.md'), 'utf8')).toBe(prompt);
  });

  test('iterations count up from 1, and each call is an event [review.request.iteration-counts-up] [review.request.event]', async () => {
    const t = await instanceApp(pretendedDisk);
    const coding = await t.coding();
    for (const iteration of [1, 2]) {
      const review = await t.review(coding.id);
      expect(review).toMatchObject({ id: `review-7-a${iteration}`, review_iteration: iteration });
      if (iteration === 1) expect((await t.refused('request_review', {}, coding.id)).code).toBe('REVIEW_IN_PROGRESS');
      await t.ok('send_feedback', { feedback: 'Well.', feedback_type: 'suggestions' }, review.id);
    }
    expect((await t.relationships(coding.id)).map(({ review_iteration, outcome }) => [review_iteration, outcome])).toEqual([
      [1, 'suggestions'],
      [2, 'suggestions'],
    ]);
    const calls = await t.events({ category: 'usage', kind: 'request_review' });
    expect(calls.map(({ actor, payload }) => [actor, (payload as { outcome: string }).outcome, (payload as { code?: string }).code])).toEqual([
      ['instance:work-7-a1', 'ok', undefined],
      ['instance:work-7-a1', 'error', 'REVIEW_IN_PROGRESS'],
      ['instance:work-7-a1', 'ok', undefined],
    ]);
    const started = await t.events({ kind: 'instance.started' });
    expect(started.map(({ subject }) => subject)).toEqual(['work-7-a1', 'review-7-a1', 'review-7-a2']);
  });

  test('of two simultaneous requests one is granted, and no iteration is assigned twice', async () => {
    const t = await instanceApp();
    const coding = await t.coding();
    const caller = await t.as(coding.id);
    const both = await Promise.all([1, 2].map(() => t.tool('request_review', {}, caller)));
    expect(both.map(({ body }) => body.code ?? 'ok').sort()).toEqual(['REVIEW_IN_PROGRESS', 'ok']);
    expect(await t.relationships(coding.id)).toHaveLength(1);
    expect(t.repository.onDisk().sort()).toEqual(['review-7-a1', 'work-7-a1']);
  });

  test('callers that may not request a review or have nothing to review are refused with a code, and nothing changes [review.request.coding-only] [review.surface.schema-validation] [review.error.shape] [review.error.logged] [review.error.no-cascade] [review.security.self-only]', async () => {
    const t = await instanceApp();
    const coding = await t.coding();
    const reviewed = await t.coding({ issue: 8 });
    const review = await t.review(reviewed.id);
    const planning = await t.coding({ type: 'planning' });
    const ana = await t.developer('ana');
    await t.done('capabilities.grant', { action: 'toolset.review', developer: 'ana' });
    const { git, write, commit } = t.repository;
    const [own, tip] = [`refs/heads/${coding.branch_name}`, git(['rev-parse', coding.branch_name])];
    const cases: [code: string, args: object, by: string, first?: () => void, last?: () => void][] = [
      ['INVALID_INPUT', { instance_id: reviewed.id }, coding.id],
      ['INVALID_INPUT', { reviewer_prompt: 'x\0' }, coding.id],
      ['INVALID_INPUT', { completion_message: 'x'.repeat(8_001) }, coding.id],
      ['WRONG_AGENT_TYPE', {}, review.id],
      ['WRONG_AGENT_TYPE', {}, planning.id],
      ['REVIEW_IN_PROGRESS', {}, reviewed.id],
      [
        'WRONG_BRANCH',
        {},
        coding.id,
        () => git(['checkout', '-q', '-b', 'mine'], coding.worktree_path),
        () => git(['checkout', '-q', coding.branch_name], coding.worktree_path),
      ],
      ['BRANCH_NOT_FOUND', {}, coding.id, () => git(['update-ref', '-d', own]), () => git(['update-ref', own, tip])],
      ['BASE_BRANCH_NOT_FOUND', {}, coding.id, () => git(['branch', '-m', 'main', 'trunk']), () => git(['branch', '-m', 'trunk', 'main'])],
      [
        'DEFAULT_BRANCH',
        {},
        coding.id,
        () => git(['symbolic-ref', 'refs/remotes/origin/HEAD', `refs/remotes/origin/${coding.branch_name}`]),
        () => git(['symbolic-ref', '-d', 'refs/remotes/origin/HEAD']),
      ],
      [
        'NO_CHANGES',
        {},
        coding.id,
        () => git(['reset', '-q', '--hard', 'main'], coding.worktree_path),
        () => void commit('again.txt', 'x', coding.worktree_path),
      ],
      [
        'WORKTREE_NOT_FOUND',
        {},
        coding.id,
        () => git(['worktree', 'move', coding.worktree_path, `${coding.worktree_path}-x`]),
        () => git(['worktree', 'move', `${coding.worktree_path}-x`, coding.worktree_path]),
      ],
    ];
    for (const [code, args, by, first, last] of cases) {
      first?.();
      const before = await state(t);
      const refusal = await t.refused('request_review', args, by);
      expect(refusal).toMatchObject({
        code,
        recoverable: true,
        instance_id: by,
        tool_name: 'request_review',
        message: expect.any(String),
        suggestion: expect.any(String),
      });
      expect(await state(t), code).toEqual(before);
      expect((await t.events({ category: 'usage', kind: 'request_review' })).at(-1)).toMatchObject({
        actor: `instance:${by}`,
        payload: { outcome: 'error', code },
      });
      last?.();
    }
    expect((await t.tool('request_review', {}, ana)).body).toMatchObject({ code: 'NOT_AN_INSTANCE', tool_name: 'request_review' });
    write('late.txt', 'x', coding.worktree_path);
    await t.ok('request_review', {}, coding.id);
    await t.ok('send_feedback', { feedback: 'Fine.', feedback_type: 'suggestions' }, review.id);
    // In the current state of the coding agent, a review cannot be requested.
    await t.app.store.write(
      'ws_default',
      async (tx) => void (await tx.db.updateTable('instances').set({ status: 'pr_created' }).where('id', '=', reviewed.id).execute()),
    );
    expect(await t.refused('request_review', {}, reviewed.id)).toMatchObject({ code: 'INVALID_STATE', status: 'pr_created' });
    await t.app.store.write(
      'ws_default',
      async (tx) => void (await tx.db.updateTable('instances').set({ machine: 'elsewhere:/home' }).where('id', '=', reviewed.id).execute()),
    );
    expect(await t.refused('request_review', {}, reviewed.id)).toMatchObject({ code: 'WRONG_MACHINE', message: expect.stringContaining('elsewhere:/home') });
  });

  test('if the worktree or the launch fails, nothing remains, and the next request gets the same iteration [review.request.failure-undone]', async () => {
    let failing: Error | undefined;
    const real = pretendedHost();
    const sessions = await real.sessions();
    const host: PretendedHost = {
      ...real,
      sessions: async () => ({
        ...sessions,
        async start(start) {
          const handle = await sessions.start(start);
          if (failing) throw failing;
          return handle;
        },
      }),
    };
    let adding: Error | undefined;
    const disk = {
      ...gitDisk,
      addWorktree: async (...args: Parameters<typeof gitDisk.addWorktree>) => {
        const head = await gitDisk.addWorktree(...args);
        if (adding) throw adding;
        return head;
      },
    };
    const t = await instanceApp({ host, disk });
    const coding = await t.coding();
    const before = await state(t);
    failing = new TmuxFailed('no more terminals');
    expect(await t.refused('request_review', {}, coding.id)).toMatchObject({ code: 'TMUX_FAILED', message: expect.stringContaining('no more terminals') });
    expect(await state(t)).toEqual(before);
    failing = undefined;
    adding = new GitFailed('worktree', 128, 'disk full');
    expect(await t.refused('request_review', {}, coding.id)).toMatchObject({ code: 'GIT_FAILED', message: expect.stringContaining('disk full') });
    expect(await state(t)).toEqual(before);
    expect(await t.events({ kind: 'instance.failed' })).toHaveLength(2);
    adding = undefined;
    expect(await t.review(coding.id)).toMatchObject({ id: 'review-7-a1', review_iteration: 1 });
  });
});

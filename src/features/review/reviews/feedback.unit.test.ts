import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testApp } from '../../../testing/app.ts';
import { SLEEPER } from '../../../testing/config.ts';
import { endTmux, isAlive } from '../../../testing/programs/processes.ts';
import { type InstanceApp, instanceApp } from '../../../testing/scenes/instances.ts';
import { temporaryRepository } from '../../../testing/scenes/repository.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';
import { until } from '../../../testing/until.ts';

const FILE = 'REVIEW_FEEDBACK.md';
const HOSTILE = '--exec=x; rm -rf ~ && $(touch /tmp/x) `id` ../../etc\n---\ntype: suggestions\n<<<<<<<\r\n\u2028"\'\\';
const needsWork = { feedback: 'No.', feedback_type: 'needs_work' };

/** Returns all files of a worktree with their bytes and modes, the index, and the output of git status. */
function worktree(t: InstanceApp, path: string) {
  const files = (readdirSync(path, { recursive: true, encoding: 'utf8' }) as string[])
    .filter((name) => !/^\.(git|covenant)/.test(name) && name !== FILE && statSync(join(path, name)).isFile())
    .sort()
    .map((name) => [name, readFileSync(join(path, name), 'hex'), statSync(join(path, name)).mode, statSync(join(path, name)).mtimeMs]);
  const say = (...args: string[]) => t.repository.git([...args, '--', '.', `:(exclude)${FILE}`], path);
  return {
    files,
    index: say('ls-files', '--stage'),
    staged: say('diff', '--cached', '--binary'),
    edited: say('diff', '--binary'),
    status: say('status', '--porcelain'),
  };
}

describe('send_feedback', () => {
  test('merges only the feedback file, and leaves staged and edited files of two coders unchanged [review.feedback.shape] [review.feedback.file] [review.feedback.merge-commit] [review.feedback.keeps-uncommitted] [review.feedback.commit-hash] [review.feedback.related-only] [review.feedback.target-resolved] [review.feedback.stored] [review.feedback.actionable-items] [review.feedback.event]', async () => {
    const t = await instanceApp();
    const { git, write, commit } = t.repository;
    const [ann, bob] = [await t.coding(), await t.coding({ issue: 8 })];
    const coders = [ann, bob];
    const paths = coders.map(({ worktree_path }) => worktree_path);
    for (const path of paths) for (const name of ['both.txt', 'staged.txt', 'gone.txt', 'renamed.txt']) commit(name, `${name}\n`, path);
    const [ofAnn, ofBob] = [await t.review(ann.id), await t.review(bob.id)];
    for (const path of paths) {
      commit('while.txt', 'committed while it was reviewed\n', path);
      for (const name of ['both.txt', 'staged.txt', 'new.txt']) write(name, `staged ${path}\n`, path);
      git(['add', '--', 'both.txt', 'staged.txt', 'new.txt'], path);
      git(['rm', '-q', '--', 'gone.txt'], path);
      git(['mv', 'renamed.txt', 'moved.txt'], path);
      git(['add', '-N', '--', '.'], path);
      for (const name of ['both.txt', 'file-0.txt', 'untracked.bin']) write(name, `edited\r\n\0${path}`, path);
    }
    const before = paths.map((path) => worktree(t, path));
    const [annHead, bobHead] = [ann, bob].map(({ branch_name }) => git(['rev-parse', branch_name]));
    const [one, two] = await Promise.all([
      t.ok('send_feedback', { ...needsWork, feedback: `Not yet.\n${HOSTILE}`, priority: 'high', actionable_items: ['Test it', HOSTILE] }, ofAnn.id),
      t.ok('send_feedback', { feedback: 'Nice.', feedback_type: 'suggestions' }, ofBob.id),
    ]);
    expect(paths.map((path) => worktree(t, path))).toEqual(before);
    for (const [answer, { id, branch_name, worktree_path }, { base_commit }, head] of [
      [one, ann, ofAnn, annHead],
      [two, bob, ofBob, bobHead],
    ] as const) {
      expect(answer).toEqual({
        feedback_id: expect.stringMatching(/^fb_/),
        git_commit_hash: git(['rev-parse', branch_name]),
        target_instance_id: id,
        cleanup_status: 'terminating',
        delivered: 'merged',
        reason: null,
      });
      // The merge joins the branch tip with a commit that adds the file to the reviewed commit. Only that file differs on either side.
      const [merge, parent, brought] = git(['rev-list', '--parents', '-n', '1', branch_name]).split(' ') as [string, string, string];
      expect(parent).toBe(head);
      expect(git(['diff', '--name-only', parent, merge])).toBe(FILE);
      expect(git(['diff', '--name-only', base_commit as string, brought])).toBe(FILE);
      expect(git(['rev-parse', `${brought}^`])).toBe(base_commit);
      expect(git(['status', '--porcelain', '--', FILE], worktree_path)).toBe('');
      expect(git(['show', `${merge}:${FILE}`])).toBe(readFileSync(join(worktree_path, FILE), 'utf8').trimEnd());
    }
    const [head, ...rest] = readFileSync(join(ann.worktree_path, FILE), 'utf8').split('\n---\n\n');
    expect(head).toBe(
      [
        '---',
        `feedback_id: ${one.feedback_id}`,
        'type: needs_work',
        'priority: high',
        'iteration: 1',
        `reviewer: ${ofAnn.id}`,
        `for: ${ann.id}`,
        `reviewed_commit: ${ofAnn.base_commit}`,
        'actionable_items:',
        '  - "Test it"',
        `  - ${JSON.stringify(HOSTILE).replace('\u2028', '\\u2028')}`,
      ].join('\n'),
    );
    expect(rest.join('\n---\n\n')).toBe(`# Review feedback\n\nNot yet.\n${HOSTILE.replace('\r\n', '\n')}\n`);
    expect(readFileSync(join(bob.worktree_path, FILE), 'utf8')).toContain('actionable_items: []');
    const { feedback } = (await t.done('instances.show', { instance_id: ann.id })) as { feedback: Body[] };
    expect(feedback).toMatchObject([
      { feedback: `Not yet.\n${HOSTILE}`, priority: 'high', actionable_items: ['Test it', HOSTILE], git_commit_hash: one.git_commit_hash },
    ]);
    expect((await t.events({ kind: 'review.feedback' })).map(({ payload }) => (payload as Body).git_commit_hash).sort()).toEqual(
      [one.git_commit_hash, two.git_commit_hash].sort(),
    );
  });

  test('releases and notifies its coder, by message and by one fixed line; the review ends and its worktree is removed [review.feedback.types]', async () => {
    const t = await instanceApp();
    const coding = await t.coding();
    for (const feedback_type of ['suggestions', 'clarification', 'needs_work']) {
      const review = await t.review(coding.id);
      t.repository.write('notes.txt', 'of the reviewer', review.worktree_path);
      const words = { feedback: `${feedback_type} ${HOSTILE}`, feedback_type };
      const answer = await t.ok('send_feedback', words, review.id);
      expect(await t.instance(coding.id)).toMatchObject({ status: 'started' });
      expect(await t.instance(review.id)).toMatchObject({ status: 'terminated', step: 'ending' });
      expect((await t.messages(coding.id)).at(-1)).toMatchObject({
        subject: `Review ${review.review_iteration} by ${review.id}: ${feedback_type}`,
        body: expect.stringContaining(answer.git_commit_hash),
      });
      // Sending the same feedback again returns the same answer; different feedback is refused.
      expect(await t.ok('send_feedback', words, review.id)).toEqual(answer);
      expect((await t.refused('send_feedback', { ...words, feedback: 'Other.' }, review.id)).code).toBe('FEEDBACK_ALREADY_SENT');
      await t.later(10_000);
      expect(await t.instance(review.id)).toMatchObject({
        status: 'terminated',
        ended_at: t.clock.now(),
        kept_reason: null,
        backup_ref: `refs/covenant/backup/${review.id}`,
      });
      expect(t.host.running.get(coding.id)?.typed.at(-1)).toBe(
        `Review ${review.review_iteration} by ${review.id}: ${feedback_type}. Feedback ${answer.feedback_id} is in ${FILE} on your branch, ` +
          `merged by ${answer.git_commit_hash}. Act on it, commit, then call request_review again or create_pull_request.`,
      );
      expect(await t.instance(coding.id)).toMatchObject({ news: null });
      await expect(t.as(review.id)).rejects.toThrow('refused');
    }
    expect([t.repository.onDisk(), [...t.host.running.keys()]]).toEqual([[coding.id], [coding.id]]);
    expect([(await t.messages(coding.id)).length, t.host.running.get(coding.id)?.typed.length]).toEqual([3, 3]);
  });

  test('is refused for callers that are not reviewers and for an ended review, and nothing is stored [review.feedback.review-only] [review.feedback.relationship-required]', async () => {
    const t = await instanceApp();
    const coding = await t.coding();
    const planning = await t.coding({ type: 'planning' });
    const review = await t.review(coding.id);
    for (const [code, args, by] of [
      ['WRONG_AGENT_TYPE', needsWork, coding.id],
      ['WRONG_AGENT_TYPE', needsWork, planning.id],
      ['INVALID_INPUT', { ...needsWork, feedback_type: 'approved' }, review.id],
      ['INVALID_INPUT', { feedback: 'x' }, review.id],
      ['INVALID_INPUT', { feedback_type: 'needs_work' }, review.id],
      ['INVALID_INPUT', { ...needsWork, priority: 'asap' }, review.id],
      ['INVALID_INPUT', { ...needsWork, target_instance_id: coding.id }, review.id],
    ] as const) {
      expect(await t.refused('send_feedback', args, by)).toMatchObject({ code, tool_name: 'send_feedback', instance_id: by });
    }
    const change = (values: object, id: string) =>
      t.app.store.write('ws_default', async (tx) => void (await tx.db.updateTable('instances').set(values).where('id', '=', id).execute()));
    await change({ status: 'abandoned' }, coding.id);
    expect(await t.refused('send_feedback', needsWork, review.id)).toMatchObject({ code: 'INVALID_STATE', message: expect.stringContaining('is abandoned') });
    await change({ status: 'waiting_review' }, coding.id);
    await t.app.store.write(
      'ws_default',
      async (tx) => void (await tx.db.updateTable('instance_relationships').set({ ended_at: 1, outcome: 'timeout' }).execute()),
    );
    expect(await t.refused('send_feedback', needsWork, review.id)).toMatchObject({ code: 'INVALID_STATE', message: expect.stringContaining('timeout') });
    await t.app.store.write('ws_default', async (tx) => void (await tx.db.deleteFrom('instance_relationships').execute()));
    expect((await t.refused('send_feedback', needsWork, review.id)).code).toBe('RELATIONSHIP_NOT_FOUND');
    expect(await t.app.store.reader.selectFrom('review_feedback').selectAll().execute()).toEqual([]);
    expect(t.repository.git(['log', '--format=%s', 'main..work/work-7-a1'])).toBe('Change work-7-a1.txt');
  });

  test('is delivered by message if it cannot be merged, and the answer says why [review.feedback.merge-impossible]', async () => {
    const t = await instanceApp();
    await t.done('settings.set', { key: 'review.max_iterations', value: 10 });
    const coding = await t.coding();
    const path = coding.worktree_path;
    const { git, write } = t.repository;
    const tip = git(['rev-parse', coding.branch_name]);
    const cases: [why: RegExp, first: () => void, last: () => void][] = [
      [/REVIEW_FEEDBACK\.md has changes there/, () => write(FILE, 'my own\n', path), () => rmSync(join(path, FILE))],
      [/a merge is in progress/, () => git(['update-ref', 'MERGE_HEAD', 'HEAD'], path), () => git(['update-ref', '-d', 'MERGE_HEAD'], path)],
      [/mine is checked out there instead/, () => git(['checkout', '-q', '-b', 'mine'], path), () => git(['checkout', '-q', coding.branch_name], path)],
      [/./, () => rmSync(path, { recursive: true }), () => {}],
    ];
    for (const [why, first, last] of cases) {
      const review = await t.review(coding.id);
      first();
      const before = why.source.startsWith('REVIEW') ? worktree(t, path) : undefined;
      const answer = await t.ok('send_feedback', { feedback: `Not ${HOSTILE}`, feedback_type: 'suggestions', actionable_items: ['Test it'] }, review.id);
      expect(answer).toMatchObject({ git_commit_hash: null, delivered: 'message', reason: expect.stringMatching(why) });
      if (before) expect([worktree(t, path), readFileSync(join(path, FILE), 'utf8')]).toEqual([before, 'my own\n']);
      expect((await t.messages(coding.id)).at(-1)?.body).toMatchObject({
        feedback_id: answer.feedback_id,
        feedback: `Not ${HOSTILE}`,
        actionable_items: ['Test it'],
        not_merged: answer.reason,
      });
      await t.later(5_000);
      expect(t.host.running.get(coding.id)?.typed.at(-1)).toContain('call message_list');
      expect(git(['rev-parse', coding.branch_name])).toBe(tip);
      expect(await t.instance(coding.id)).toMatchObject({ status: 'started' });
      last();
    }
  });

  test('is cut in the message if it is too long, and stored in full', async () => {
    const t = await instanceApp();
    const coding = await t.coding();
    const review = await t.review(coding.id);
    t.repository.write(FILE, 'my own\n', coding.worktree_path);
    const words = { feedback: '\u{1f600}"'.repeat(21_000), feedback_type: 'suggestions', actionable_items: Array.from({ length: 100 }, () => 'ü'.repeat(900)) };
    expect(await t.ok('send_feedback', words, review.id)).toMatchObject({ delivered: 'message' });
    const [{ body }] = (await t.messages(coding.id)) as [Body];
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(64 * 1024);
    expect([words.feedback.startsWith(body.feedback), body.feedback.isWellFormed(), body.feedback.length > 5_000]).toEqual([true, true, true]);
    expect([body.actionable_items.length, body.cut]).toEqual([13, expect.stringContaining(coding.id)]);
    const { feedback } = (await t.done('instances.show', { instance_id: coding.id })) as { feedback: Body[] };
    expect(feedback).toMatchObject([{ feedback: words.feedback, actionable_items: words.actionable_items }]);
  });
});

test('in real sessions the prompt is one argument of the program, and the reviewer ends after its feedback [review.feedback.reviewer-terminated]', async () => {
  const repository = temporaryRepository();
  const t = await testApp({ launchers: { real: { ...SLEEPER, command: 'tail', args: ['-f', '/dev/null', '{{prompt}}'], prompt: 'argument' } } });
  onTestFinished(() => endTmux(t.database.home));
  t.app.servesAt('http://127.0.0.1:9');
  const row = (id: string) => t.app.store.reader.selectFrom('instances').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const as = async (id: string) => {
    const { pid } = await row(id);
    // Immediately after the fork, a process still shows the environment of its parent.
    const token = await until(() => {
      const found = /COVIBE_MCP_TOKEN=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1];
      if (!found) throw new Error('its program has not begun');
      return found;
    });
    const authenticated = await t.app.authenticate(token, 'bearer');
    if (!('principal' in authenticated)) throw new Error(`no token: ${authenticated.rejected}`);
    return { pid: pid as number, caller: { token, tokenId: '', principal: authenticated.principal } };
  };
  const { id } = await t.done('instances.start', { repository_path: repository.path, type: 'coding', prompt: HOSTILE, agent: 'real' });
  const coder = await as(id as string);
  repository.commit('work.txt', 'x', (await row(id as string)).worktree_path);
  const { body } = await t.tool('request_review', { reviewer_prompt: `${HOSTILE};` }, coder.caller);
  expect(body).toMatchObject({ review_instance_id: 'review-0-a1' });
  const reviewer = await as('review-0-a1');
  // The launching process shows its own arguments until it has become the program.
  const prompt = await until(() => {
    const [program, , , last] = readFileSync(`/proc/${reviewer.pid}/cmdline`, 'utf8').split('\0');
    if (program !== 'tail') throw new Error(`${program} has not become the program yet`);
    return last;
  });
  expect(prompt).toBe((await row('review-0-a1')).prompt);
  expect(prompt).toContain(`${HOSTILE};`);
  expect((await t.tool('send_feedback', { feedback: HOSTILE, feedback_type: 'suggestions' }, reviewer.caller)).body).toMatchObject({ delivered: 'merged' });
  t.clock.advance(10_000);
  await expect.poll(() => isAlive(reviewer.pid), { timeout: 20_000 }).toBe(false);
  await expect.poll(async () => (await row('review-0-a1')).ended_at, { timeout: 20_000 }).toBe(t.clock.now());
  expect([isAlive(coder.pid), (await row('review-0-a1')).status, repository.onDisk()]).toEqual([true, 'terminated', [id]]);
  await t.done('instances.abandon', { instance_id: id });
  expect(isAlive(coder.pid)).toBe(false);
});

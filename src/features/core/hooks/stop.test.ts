import { expect, test } from 'vitest';
import { hooksApp, REPO } from '../../../testing/scenes/hooks.ts';
import { workflowApp } from '../../../testing/scenes/workflow.ts';

test('the first stop of an agent with open work is blocked, and the agent gets the open work and next steps; later stops notify the person', async () => {
  const t = await hooksApp();
  const session_id = await t.begun('run-1');
  const task = await t.started({ title: 'Rework the uploads', session_id }, t.claude);
  const { ask_id } = (await t.call('covibe_coordination', 'ask', { to: 'ana', message: 'Which port?' }, t.cursor)).data;
  const tree = { repo: REPO, branch: 'main', dirty_files: ['a.ts', 'b.ts'], unpushed_files: ['c.ts'], unpushed_commits: 2 };
  const held = await t.hear('stop', tree);
  expect(held).toMatchObject({ decision: 'deny', notice: null });
  expect(held.reason?.split('\n')).toEqual([
    'Open work before you stop:',
    `- Task ${task} "Rework the uploads" is active. Call covibe_task (task_id: "${task}") with complete (result_summary), update (status: "blocked") or cancel (reason).`,
    `- ben waits for your answer to "Which port?": covibe_coordination reply (ask_id: "${ask_id}", message: …).`,
    '- 2 files changed and not committed: a.ts, b.ts. Commit them if you were asked to.',
    '- Not pushed: 2 commits with 1 file. Push if you were asked to.',
    'Complete what is done and report what is not. Then stop: this reminder appears once.',
  ]);
  expect(await t.events({ kind: 'ask.delivered' })).toMatchObject([{ subject: ask_id }]);
  const notice = 'Covenant: unfinished: 1 open task, 1 unanswered ask, 2 files not committed, 2 commits with 1 file not pushed.';
  for (let again = 0; again < 3; again++) expect(await t.hear('stop', tree)).toMatchObject({ decision: 'allow', reason: null, notice });
  // Other files changed in this turn, but the agent already knows that there are uncommitted files.
  expect(await t.hear('stop', { ...tree, dirty_files: ['z.ts'] })).toMatchObject({ decision: 'allow' });
  await t.task('complete', { task_id: task, result_summary: 'done' }, t.claude);
  expect((await t.hear('stop', tree)).decision).toBe('deny');
});

test('a stop is not blocked if the agent continues after a blocked stop, if only changed files were reported before, or if nothing is open', async () => {
  const t = await hooksApp();
  await t.begun('run-1');
  expect(await t.hear('stop', { dirty_files: [], unpushed_files: [], unpushed_commits: 0 })).toMatchObject({ decision: 'allow', notice: null });
  const dirty = { repo: REPO, dirty_files: ['a.ts'] };
  expect(await t.hear('stop', { ...dirty, again: true })).toMatchObject({ decision: 'allow', notice: 'Covenant: unfinished: 1 file not committed.' });
  expect(await t.hear('stop', { repo: REPO, dirty_files: [] })).toMatchObject({ decision: 'allow', notice: null });
  expect((await t.hear('stop', dirty)).decision).toBe('deny');
  for (let turn = 0; turn < 3; turn++) expect((await t.hear('stop', dirty)).decision).toBe('allow');
  // The working tree was clean in between, so new changes are reported again.
  await t.hear('stop', { repo: REPO, dirty_files: [] });
  expect((await t.hear('stop', dirty)).decision).toBe('deny');
  await t.hear('stop', { repo: REPO, dirty_files: [], again: true });
  expect((await t.hear('stop', dirty)).decision).toBe('deny');
  expect((await t.hear('stop', { ...dirty, client_session: undefined })).decision).toBe('allow');
});

test('changes that were uncommitted or unpushed when the run began do not count as its work', async () => {
  const t = await hooksApp();
  const before = { repo: REPO, dirty_files: ['.mcp.json', 'a.ts'], unpushed_files: ['b.ts'], unpushed_commits: 3 };
  await t.begun('run-1', t.claude, before);
  expect(await t.hear('stop', before)).toMatchObject({ decision: 'allow', notice: null });
  const { reason } = await t.hear('stop', { ...before, dirty_files: ['.mcp.json', 'a.ts', 'mine.ts'], unpushed_commits: 4 });
  expect(reason).toContain('- 1 file changed and not committed: mine.ts.');
  expect(reason).toContain('- Not pushed: 1 commit ');
  const crowd = Array.from({ length: 501 }, (_, index) => `f${index}.ts`);
  await t.begun('run-2', t.claude, { repo: REPO, dirty_files: crowd });
  expect(await t.hear('stop', { client_session: 'run-2', repo: REPO, dirty_files: [...crowd, 'mine.ts'] })).toMatchObject({ decision: 'allow', notice: null });
});

test('work that appears while the agent continues after a blocked stop is reported at its next stop', async () => {
  const t = await hooksApp();
  await t.begun('run-1');
  const ask = async (message: string) => (await t.call('covibe_coordination', 'ask', { to: 'ana', message }, t.cursor)).data.ask_id;
  const first = await ask('Which port?');
  expect((await t.hear('stop')).reason).toContain(first);
  const second = await ask('Which host?');
  expect(await t.hear('stop', { again: true })).toMatchObject({ decision: 'allow', notice: 'Covenant: unfinished: 2 unanswered asks.' });
  expect((await t.hear('stop')).reason).toContain(second);
  expect((await t.hear('stop')).decision).toBe('allow');
});

test("pushing commits from before the run does not hide the run's own commits, whichever hook reports it", async () => {
  const t = await hooksApp();
  for (const seen of ['stop', 'session-start'] as const) {
    await t.begun(seen, t.claude, { unpushed_commits: 3 });
    await t.hear(seen, { client_session: seen, repo: REPO, unpushed_commits: 0 });
    const { reason } = await t.hear('stop', { client_session: seen, repo: REPO, unpushed_commits: 2 });
    expect(reason).toContain('- Not pushed: 2 commits.');
  }
});

test('switching to another branch and back does not change which commits count as unpushed work of the run', async () => {
  const t = await hooksApp();
  await t.begun('run-1', t.claude, { branch: 'feature', unpushed_commits: 5 });
  const stop = async (branch: string, unpushed_commits: number, repo = REPO) => await t.hear('stop', { repo, branch, unpushed_commits });
  const free = { decision: 'allow', notice: null };
  expect(await stop('main', 0)).toMatchObject(free);
  expect(await stop('feature', 5)).toMatchObject(free);
  // A branch created at the start of the run contains the commits that existed then.
  expect((await stop('fresh', 7)).reason).toContain('- Not pushed: 2 commits.');
  // Nobody knows who made these commits, so they do not count as work of the run. Commits that are added later do.
  expect(await stop('old', 3)).toMatchObject(free);
  expect(await stop('main', 4, 'github.com/acme/other')).toMatchObject(free);
  expect((await stop('old', 4)).reason).toContain('- Not pushed: 1 commit.');
  expect(await stop('old', 0)).toMatchObject(free);
  expect((await stop('old', 2)).reason).toContain('- Not pushed: 2 commits.');
  expect(await stop('feature', 5)).toMatchObject(free);
});

test('a run remembers only a limited number of branches, the newest ones', async () => {
  const t = await hooksApp();
  await t.begun('run-1', t.claude, { branch: 'main', unpushed_commits: 30 });
  for (let index = 0; index < 30; index++) await t.hear('stop', { repo: REPO, branch: `b${index}`, unpushed_commits: index });
  const { unpushed } = JSON.parse((await t.run())?.found ?? '') as { unpushed: object };
  expect(Object.values(unpushed)).toEqual(Array.from({ length: 20 }, (_, index) => index + 10));
});

test('tasks of another run or agent, or from before the run, do not block a stop', async () => {
  const t = await hooksApp();
  await t.started({ title: 'Begun before any run' }, t.claude);
  t.clock.advance(1_000);
  const [mine, other] = [await t.begun('run-1'), await t.begun('run-2')];
  await t.started({ title: 'The other run does this', session_id: other }, t.claude);
  await t.started({ title: 'Another agent does that' }, t.codex);
  expect((await t.hear('stop')).decision).toBe('allow');
  await t.started({ title: 'Begun here without a session' }, t.claude);
  expect((await t.hear('stop')).reason).toContain('Begun here without a session');
  await t.started({ title: 'Begun in the session', session_id: mine }, t.claude);
  expect((await t.hear('stop')).reason).toContain('Begun in the session');
});

test('a workflow task that an agent of the run holds is reported', async () => {
  const t = await workflowApp();
  const stop = { client: 'claude-code', client_session: 'run-1', event: 'stop' };
  await t.done('hooks.hear', { ...stop, event: 'session-start' }, t.ana);
  const { ids } = await t.planned(['build']);
  const { agent_id } = await t.started(ids.build as string);
  const { decision, reason } = await t.done('hooks.hear', stop, t.ana);
  expect([decision, reason]).toEqual([
    'deny',
    expect.stringContaining(
      `- Workflow task ${ids.build} "build" is in_progress, held by your agent ${agent_id}. Call task_update_status (id: "${ids.build}", status: …) or task_release (task_id: "${ids.build}", agent_id: "${agent_id}").`,
    ),
  ]);
});

test('a workflow task that was claimed before the run began does not block a stop', async () => {
  const t = await workflowApp();
  const hear = (event: string) => t.done('hooks.hear', { client: 'claude-code', client_session: 'run-1', event }, t.ana);
  const { ids } = await t.planned(['build', 'ship']);
  const { agent_id } = await t.claimed(ids.build as string);
  t.clock.advance(1);
  await hear('session-start');
  expect((await hear('stop')).decision).toBe('allow');
  await t.claimed(ids.ship as string, t.ana, agent_id);
  const { reason } = await hear('stop');
  expect(reason).toContain(ids.ship);
  expect(reason).not.toContain(ids.build);
});

test('the working tree is stored as a snapshot of the session, so that others see the files in progress', async () => {
  const t = await hooksApp();
  const session_id = await t.begun('run-1', t.claude, { folder: '/home/ana/app' });
  const task = await t.started({ title: 'Rework the uploads', session_id }, t.claude);
  const many = Array.from({ length: 600 }, (_, index) => `f${index}.ts`);
  await t.hear('stop', { repo: REPO, branch: 'main', dirty_files: many, unpushed_files: ['pushed-not.ts'] });
  expect(await t.events({ kind: 'session.snapshot' })).toMatchObject([
    { subject: session_id, session: session_id, payload: { repo: REPO, branch: 'main', dirty_files: 500, unpushed_files: 1 } },
  ]);
  const check = await t.task('check', { title: 'Something else', task_type: 'chore', target_files: ['f1.ts'] }, t.cursor);
  expect(JSON.stringify(check.data.file_conflicts)).toContain('f1.ts');
  const worktree = await t.app.store.reader.selectFrom('local_worktrees').selectAll().executeTakeFirstOrThrow();
  expect(worktree).toMatchObject({ session_id, repo: REPO, branch: 'main', worktree: '/home/ana/app' });
  await t.hear('session-end', { repo: REPO, branch: 'main', dirty_files: [] });
  expect((await t.app.store.reader.selectFrom('local_worktrees').selectAll().executeTakeFirstOrThrow()).dirty_files).toBe('[]');
  expect(task).toMatch(/^task_/);
});

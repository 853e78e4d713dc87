import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { TestApp, TestCaller } from '../../../testing/app.ts';
import { SLEEPER } from '../../../testing/config.ts';
import { type InstanceApp, instanceApp } from '../../../testing/scenes/instances.ts';
import { temporaryRepository } from '../../../testing/scenes/repository.ts';
import { pretendedHost } from '../../../testing/scenes/sessions.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { changeInstance } from './store.ts';

const action = async (t: TestApp, name: string, args: object, caller?: TestCaller): Promise<Body> => (await t.action(name, args, caller)).body as Body;
const change = (t: InstanceApp, row: InstanceRow, values: Partial<InstanceRow>) =>
  t.app.store.write(row.workspace_id, (tx) => changeInstance(tx.db, row, values));

/** Signed in to the dashboard without operator rights, which only the workspace's first developer has. */
const onDashboard = (caller: TestCaller): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true } });

test('starting an instance creates its worktree, branch, session, agent and token; the number in its id counts attempts [review.instance.id-pattern] [review.instance.types]', async () => {
  const t = await instanceApp();
  const { repository, host } = t;
  const start = (args: object) => t.done('instances.start', { repository_path: repository.path, agent: 'tiny', ...args }) as Promise<Body>;
  const made = await start({ type: 'coding', issue: 123 });
  expect(made).toMatchObject({
    ...{ id: 'work-123-a1', type: 'coding', status: 'started', agent: 'tiny', running: true, issue_number: 123, created_by: 'operator' },
    ...{ branch: 'work/work-123-a1', base_branch: 'main', repository: repository.path, worktree_path: `${repository.path}-worktrees/work-123-a1` },
    ...{ session_name: 'work-123-a1', session_kind: 'tmux', reviews: 0, max_reviews: 3, at_limit: false, suggestions: [], parent_instance_id: null },
  });
  expect(repository.worktrees()).toEqual([made.worktree_path]);
  expect(repository.git(['rev-parse', 'HEAD'], made.worktree_path)).toBe(repository.git(['rev-parse', 'main']));
  // Files that the server wrote into the worktree do not count as unsaved work.
  expect(repository.git(['status', '--porcelain', '--untracked-files=all'], made.worktree_path)).toBe('');
  const { env, args } = host.started[0] as (typeof host.started)[number];
  const token = env.COVIBE_MCP_TOKEN as string;
  expect((await t.as('work-123-a1')).principal).toMatchObject({ kind: 'instance', instanceId: 'work-123-a1' });
  const folder = join(made.worktree_path, '.covenant');
  const written = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(`${args.join()}${written.join()}`).not.toContain(token);
  expect(readFileSync(join(folder, 'prompt.md'), 'utf8')).toBe(args[1]);
  expect(JSON.stringify(await t.events())).not.toContain('issue 123');
  expect((await t.done('workflows.agents', {})) as Body).toMatchObject({ items: [{ id: made.agent_id, name: 'work-123-a1', status: 'online' }] });

  // If `repository_path` is a worktree, the new worktree starts from the branch that is checked out there.
  repository.commit('own.txt', 'x', made.worktree_path);
  expect(await start({ type: 'coding', issue: 123, prompt: 'Also this.', repository_path: made.worktree_path })).toMatchObject({
    ...{ id: 'work-123-a2', repository: repository.path, base_branch: 'work/work-123-a1' },
  });
  expect(await start({ type: 'coding', prompt: '-- just do it' })).toMatchObject({ id: 'adhoc-a1', branch: 'work/adhoc-a1', issue_number: null });
  expect(await start({ type: 'planning', prompt: 'Plan it.', base_branch: 'work/work-123-a1' })).toMatchObject({
    ...{ id: 'planning-a1', type: 'planning', branch: 'planning/planning-a1', base_branch: 'work/work-123-a1' },
  });
  // If `repository_path` is a link, the repository is the real folder.
  const link = join(temporaryFolder(), 'link');
  symlinkSync(repository.path, link);
  expect(await start({ type: 'planning', issue: 5, repository_path: link })).toMatchObject({ id: 'planning-a2', repository: repository.path, issue_number: 5 });
  expect((await t.events({ kind: 'instance.started' })).map(({ subject }) => subject)).toEqual([
    'work-123-a1',
    'work-123-a2',
    'adhoc-a1',
    'planning-a1',
    'planning-a2',
  ]);
});

test('an invalid start is refused before anything is created, and the refusal gives the next step', async () => {
  const t = await instanceApp({
    maxRunning: 1,
    launchers: { tiny: SLEEPER, gone: { ...SLEEPER, command: 'no-such-program' }, away: { ...SLEEPER, command: '/no/such/program' } },
  });
  const { repository } = t;
  const empty = temporaryRepository({ commits: 0 });
  const detached = temporaryRepository();
  detached.git(['checkout', '--quiet', '--detach']);
  const good = { repository_path: repository.path, type: 'coding', issue: 1, agent: 'tiny' };
  const cases: [args: object, refusal: object][] = [
    [{ issue: undefined }, { code: 'INVALID_INPUT', field: 'prompt' }],
    [
      { type: 'planning', issue: undefined },
      { code: 'INVALID_INPUT', field: 'prompt' },
    ],
    [{ type: 'review' }, { code: 'INVALID_INPUT', field: 'type' }],
    [{ agent: 'none' }, { code: 'INVALID_INPUT', field: 'agent', message: expect.stringContaining('claude, codex, gemini, opencode, tiny, gone') }],
    [{ agent: 'constructor' }, { code: 'INVALID_INPUT', field: 'agent' }],
    [{ agent: 'gone' }, { code: 'LAUNCHER_MISSING', program: 'no-such-program', suggestion: expect.stringContaining('[launchers.gone]') }],
    [{ agent: 'away' }, { code: 'LAUNCHER_MISSING', program: '/no/such/program' }],
    [{ repository_path: '/no/such/folder' }, { code: 'REPOSITORY_UNFIT', field: 'repository_path' }],
    [{ repository_path: dirname(temporaryFolder()) }, { code: 'REPOSITORY_UNFIT' }],
    [{ repository_path: empty.path }, { code: 'REPOSITORY_UNFIT', suggestion: expect.stringContaining('first commit') }],
    [{ repository_path: detached.path }, { code: 'REPOSITORY_UNFIT', suggestion: expect.stringContaining('base_branch') }],
    [{ repository_path: undefined }, { code: 'INVALID_INPUT', field: 'repository_path' }],
    [{ base_branch: 'nowhere' }, { code: 'BRANCH_NOT_FOUND', field: 'base_branch' }],
    [{ base_branch: '--upload-pack=x' }, { code: 'BRANCH_NOT_FOUND' }],
    [{ base_branch: '../../HEAD' }, { code: 'BRANCH_NOT_FOUND' }],
    [{ base_branch: 'main~0' }, { code: 'BRANCH_NOT_FOUND' }],
  ];
  for (const [args, refusal] of cases) expect([args, await action(t, 'instances.start', { ...good, ...args })]).toMatchObject([args, refusal]);
  const member = onDashboard(await t.developer('ben'));
  expect(await action(t, 'instances.start', good, member)).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  expect([await t.app.store.reader.selectFrom('instances').select('id').execute(), repository.onDisk(), t.host.started]).toEqual([[], [], []]);

  await t.done('instances.start', good);
  expect(await action(t, 'instances.start', good)).toMatchObject({
    code: 'INSTANCE_LIMIT',
    max_running: 1,
    suggestion: expect.stringContaining('max_running'),
  });
  await t.done('instances.stop', { instance_id: 'work-1-a1' });
  expect(await t.done('instances.start', good)).toMatchObject({ id: 'work-1-a2' });
  // The agent of this instance has ended. Only the pull request on GitHub is still open.
  await change(t, await t.instance('work-1-a2'), { status: 'pr_created', pr_number: 5, pid: null, process_start: null });
  expect(await t.done('instances.start', good)).toMatchObject({ id: 'work-1-a3' });
});

test('an instance cannot start if agents cannot reach the server; a failed start leaves nothing behind', async () => {
  const t = await instanceApp({ repositories: ['/nowhere'] });
  const good = { repository_path: t.repository.path, type: 'coding', issue: 1, agent: 'tiny' };
  expect(await action(t, 'instances.start', good)).toMatchObject({ code: 'REPOSITORY_NOT_ALLOWED' });
  const sessions = await t.host.sessions();
  const full = await instanceApp({ host: { ...t.host, sessions: async () => ({ ...sessions, start: () => Promise.reject(new Error('no more terminals')) }) } });
  const failed = await action(full, 'instances.start', { ...good, repository_path: full.repository.path });
  expect(failed).toMatchObject({ code: 'AGENT_NOT_STARTED', message: expect.stringContaining('no more terminals') });
  expect([full.repository.onDisk(), full.repository.branches()]).toEqual([[], ['main']]);
  expect(await full.done('instances.list', {})).toEqual({ items: [], total: 0 });
  expect(await full.events({ kind: 'instance.failed' })).toHaveLength(1);
  // Neither the token nor the agent of the failed start can act any more.
  expect(await full.events({ kind: 'token.revoked' })).toHaveLength(1);
  expect((await full.done('workflows.agents', {})) as Body).toMatchObject({ items: [{ status: 'offline' }] });
  full.app.servesAt(undefined as unknown as string);
  expect(await action(full, 'instances.start', { ...good, repository_path: full.repository.path })).toMatchObject({
    ...{ code: 'NOT_SERVING', suggestion: expect.stringContaining('covenant up') },
  });
});

test('actions list and show instances with type, status and relationships; no tool does [dashboard.instances.query] [review.surface.no-query-instances] [review.instance.id-validated]', async () => {
  const t = await instanceApp();
  const work = await t.coding();
  t.clock.advance(1);
  const review = await t.review(work.id);
  const member = onDashboard(await t.developer('ben'));
  expect(await t.done('instances.list', {}, member)).toMatchObject({
    items: [
      { id: review.id, type: 'review', status: 'started', parent_instance_id: work.id },
      { id: work.id, type: 'coding', status: 'waiting_review', reviews: 1 },
    ],
    total: 2,
  });
  expect(await t.done('instances.list', { type: 'coding' })).toMatchObject({ items: [{ id: work.id }], total: 1 });
  expect(await t.done('instances.list', { status: ['started', 'pr_created'] })).toMatchObject({ items: [{ id: review.id }], total: 1 });
  expect(await t.done('instances.list', { limit: 1, offset: 1 })).toMatchObject({ items: [{ id: work.id }], total: 2 });
  const relationship = { parent_instance: work.id, child_instance: review.id, relationship_type: 'spawned_review', review_iteration: 1, outcome: null };
  for (const instance_id of [work.id, review.id]) {
    expect(await t.done('instances.show', { instance_id }, member)).toMatchObject({
      instance: { id: instance_id },
      relationships: [relationship],
      feedback: [],
    });
  }
  for (const instance_id of ['work-7', '../work-7-a1', 'work-7-a1; rm -rf /', 'WORK-7-A1', '']) {
    expect(await action(t, 'instances.show', { instance_id })).toMatchObject({ code: 'INVALID_INPUT', field: 'instance_id' });
  }
  expect(await action(t, 'instances.show', { instance_id: 'work-8-a1' })).toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
  expect(await action(t, 'instances.logs', { instance_id: work.id }, member)).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  expect(await t.done('instances.logs', { instance_id: work.id })).toMatchObject({ text: 'its screen', running: true });
  expect(t.app.registry.tool('query_instances')).toBe(undefined);
  expect(t.app.registry.tools().filter(({ name }) => name.includes('instance'))).toEqual([]);
});

test("others see that a private developer's instance exists, but neither its owner nor its work", async () => {
  const t = await instanceApp();
  const ana = await t.developer('ana');
  const ben = await t.developer('ben');
  const admin: TestCaller = { ...ana, principal: { ...ana.principal, web: true, operator: true, runsAgents: true } };
  const start = { repository_path: t.repository.path, type: 'coding', issue: 7, agent: 'tiny' };
  expect(await t.done('instances.start', start, admin)).toMatchObject({ developer: 'ana', created_by: 'ana' });
  expect(await t.done('instances.show', { instance_id: 'work-7-a1' }, onDashboard(ben))).toMatchObject({
    ...{ prompt: expect.stringContaining('issue 7') },
    instance: { developer: 'ana', created_by: 'ana' },
  });
  await t.refused('request_review', {}, 'work-7-a1');
  await t.done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const shown = (await t.done('instances.show', { instance_id: 'work-7-a1' }, onDashboard(ben))) as Body;
  expect(shown).toMatchObject({
    instance: { id: 'work-7-a1', status: 'started', developer: '@private', created_by: '@private', worktree_path: '@private' },
    prompt: null,
    failures: [],
  });
  const listed = JSON.stringify([shown, await t.done('instances.list', {}, onDashboard(ben))]);
  for (const secret of [ana.principal.developerId as string, 'ana"', t.repository.path]) expect(listed).not.toContain(secret);
  const other: TestCaller = { ...ben, principal: { ...ben.principal, web: true, operator: true } };
  await change(t, await t.instance('work-7-a1'), { machine: 'elsewhere' });
  expect(await action(t, 'instances.logs', { instance_id: 'work-7-a1' }, other)).toMatchObject({ code: 'INSTANCE_PRIVATE' });
  await change(t, await t.instance('work-7-a1'), { machine: 'pretended' });
  expect(await t.done('instances.show', { instance_id: 'work-7-a1' }, admin)).toMatchObject({ instance: { developer: 'ana', repository: t.repository.path } });
  expect(await t.done('instances.stop', { instance_id: 'work-7-a1' }, admin)).toMatchObject({ instance: { status_reason: 'stopped by ana' } });
  expect(await t.done('instances.show', { instance_id: 'work-7-a1' })).toMatchObject({ instance: { repository: t.repository.path } });
});

test('others see only the listed fields of a private developer’s instance, and fewer without operator rights', async () => {
  const t = await instanceApp();
  const ana = await t.developer('ana');
  const admin: TestCaller = { ...ana, principal: { ...ana.principal, web: true, operator: true, runsAgents: true } };
  await t.done('instances.start', { repository_path: t.repository.path, type: 'coding', issue: 7, agent: 'tiny' }, admin);
  await t.done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  // Each of these fields gets a value, because a hidden empty field would look the same to everybody.
  const told = { pr_number: 5, pr_url: 'https://github.com/o/r/pull/5', status_reason: 'stopped by ana', kept_reason: 'it is dirty', backup_ref: 'refs/x' };
  await change(t, await t.instance('work-7-a1'), told);
  const seenBy = async (caller: TestCaller) => ((await t.done('instances.show', { instance_id: 'work-7-a1' }, caller)) as { instance: Body }).instance;
  const own = await seenBy(admin);
  const ben = onDashboard(await t.developer('ben'));
  const knownTo = async (caller: TestCaller) => {
    const others = await seenBy(caller);
    const isKnown = (field: string) => isDeepStrictEqual(own[field], others[field]);
    const hidden = Object.entries(others).filter(([field]) => !isKnown(field));
    return { known: Object.keys(own).filter(isKnown).sort(), hidden: Object.fromEntries(hidden) };
  };
  const standing = [
    ...['at_limit', 'created_at', 'ended_at', 'extra_reviews', 'failed_reviews', 'id', 'last_activity', 'max_failed_reviews', 'max_reviews'],
    ...['parent_instance_id', 'review_iteration', 'reviews', 'running', 'session_kind', 'status', 'suggestions', 'type', 'updated_at'],
  ];
  const withheld = {
    ...{ developer: '@private', repository: '@private', base_branch: '@private', worktree_path: '@private', machine: '@private', created_by: '@private' },
    ...{ issue_number: null, pr_number: null, pr_url: null, status_reason: '@private', kept_reason: '@private' },
  };
  // Administrators of the workspace must be able to find the agent's program, session and branch.
  const found = ['agent', 'agent_id', 'backup_ref', 'branch', 'session_name'];
  expect(await knownTo({ ...ben, principal: { ...ben.principal, operator: true } })).toEqual({ known: [...standing, ...found].sort(), hidden: withheld });
  const byName = { agent: '@private', agent_id: '@private', backup_ref: null, branch: '@private', session_name: '@private' };
  expect(await knownTo(ben)).toEqual({ known: standing, hidden: { ...withheld, ...byName } });
});

test('an instance shows its failed calls of review tools with their codes, and the branch and commit at that time [review.error.logged]', async () => {
  const t = await instanceApp();
  const work = await t.coding();
  const commit = t.repository.git(['rev-parse', 'HEAD'], work.worktree_path);
  await t.refused('send_feedback', { feedback: 'x', feedback_type: 'needs_work' }, work.id);
  await t.refused('request_review', { nonsense: 1 }, work.id);
  await t.refused('task_get', { id: 'task_none' }, work.id);
  const { failures } = (await t.done('instances.show', { instance_id: work.id })) as Body;
  expect(failures).toEqual([
    { time: t.clock.now(), tool: 'request_review', code: 'INVALID_INPUT', request_id: expect.stringMatching(/^req_/), branch: work.branch_name, commit },
    { time: t.clock.now(), tool: 'send_feedback', code: 'WRONG_AGENT_TYPE', request_id: expect.stringMatching(/^req_/), branch: work.branch_name, commit },
  ]);
});

test("two homes share a repository, and neither uses or removes the other's worktrees", async () => {
  const t = await instanceApp();
  const start = { repository_path: t.repository.path, type: 'coding', issue: 7, agent: 'tiny' };
  const mine = (await t.done('instances.start', start)) as Body;
  const other = await instanceApp({ repository: t.repository, host: { ...pretendedHost(), machine: 'other' } });
  const theirs = await other.coding();
  expect([mine.id, theirs.id, t.repository.worktrees()]).toEqual(['work-7-a1', 'work-7-a2', [mine.worktree_path, theirs.worktree_path]]);
  // The worktree is left alone even if the server's records say that the worktree belongs to this server.
  await change(other, theirs, { worktree_path: mine.worktree_path, branch_name: mine.branch });
  expect(await other.done('instances.stop', { instance_id: theirs.id })).toMatchObject({
    worktree: 'kept',
    reason: expect.stringContaining('belongs to the server "pretended"'),
  });
  expect(existsSync(mine.worktree_path)).toBe(true);
});

test('an agent is stopped even if its last screen cannot be saved', async () => {
  const host = pretendedHost();
  const t = await instanceApp({ host: { ...host, keepScreen: () => Promise.reject(new Error('no space left on device')) } });
  const { id } = await t.coding();
  expect(await t.done('instances.stop', { instance_id: id })).toMatchObject({ instance: { status: 'terminated', ended_at: t.clock.now() } });
  expect(host.running.size).toBe(0);
});

import { expect, test } from 'vitest';
import { type TestCaller, testApp } from '../../../testing/app.ts';
import type { LocalGraph } from './contract.ts';
import { localGraph } from './local-graph.ts';

const HOUR = 3_600_000;
const SHA = 'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678';

interface SnapshotData {
  worktree_id: string;
  file_conflicts: { source: string; owner: string; files: string[]; title: string | null }[];
  local_graph: LocalGraph;
}

async function services() {
  const app = await testApp();
  const [ana, ben] = [await app.developer('ana'), await app.developer('ben')];
  const call = (args: object, by: TestCaller) => app.tool('covibe_session', args, by);
  const session = async (by: TestCaller, args: object = {}) =>
    ((await call({ operation: 'start', repo: 'covenant', ...args }, by)).reply.data as { session_id: string }).session_id;
  const sessions = { ana: await session(ana), ben: await session(ben) };
  const snap = (args: object, by: TestCaller = ana) => call({ operation: 'snapshot', session_id: by === ben ? sessions.ben : sessions.ana, ...args }, by);
  const taken = async (args: object, by: TestCaller = ana) => {
    const { reply } = await snap(args, by);
    if (reply.status !== 'ok') throw new Error(`${reply.code}: ${reply.message}`);
    return reply.data as SnapshotData;
  };
  const graph = (viewer: TestCaller = ana, repo = 'covenant') => localGraph(app.app.store.reader, viewer.principal.workspace, repo, viewer.principal);
  return { ...app, ana, ben, call, graph, session, sessions, snap, taken };
}

test('a snapshot carries files, hashes, commits and the state of worktree and branch [session.snapshot.shape]', async () => {
  const { app, events, sessions, taken } = await services();
  const { worktree_id } = await taken({
    branch: 'parser',
    worktree: '/home/ana/covenant',
    head: SHA,
    dirty_files: ['src/a.ts'],
    unpushed_files: ['src/b.ts', 'src/a.ts'],
    diff_hashes: { 'src/a.ts': 'sha256:0011', 'src/b.ts': 'ffee' },
    recent_commits: [{ sha: SHA, title: 'Add the grammar' }, 'beef1234'],
  });
  expect(await app.store.reader.selectFrom('local_worktrees').selectAll().executeTakeFirst()).toMatchObject({
    id: worktree_id,
    repo: 'covenant',
    branch: 'parser',
    worktree: '/home/ana/covenant',
    head: SHA,
    dirty_files: '["src/a.ts"]',
    session_id: sessions.ana,
  });
  expect(await app.store.reader.selectFrom('agent_sessions').select('branch').where('id', '=', sessions.ana).executeTakeFirst()).toEqual({ branch: 'parser' });
  const [event] = await events({ kind: 'session.snapshot' });
  expect(event).toMatchObject({
    session: sessions.ana,
    payload: { repo: 'covenant', branch: 'parser', head: SHA, dirty_files: 1, unpushed_files: 2, diff_hashes: 2, recent_commits: 2 },
  });
  expect(JSON.stringify(event)).not.toContain('src/a.ts');
});

test('a snapshot is bounded, and its paths stay inside the repository', async () => {
  const { snap } = await services();
  const files = Array.from({ length: 501 }, (_, at) => `src/${at}.ts`);
  const wrong: [object, string][] = [
    [{ dirty_files: files }, 'dirty_files'],
    [{ unpushed_files: files }, 'unpushed_files'],
    [{ diff_hashes: Object.fromEntries(files.map((file) => [file, 'ff'])) }, 'diff_hashes'],
    [{ recent_commits: Array.from({ length: 51 }, () => SHA) }, 'recent_commits'],
    [{ recent_commits: ['not a commit'] }, 'recent_commits[0]'],
    [{ dirty_files: ['/etc/passwd'] }, 'dirty_files[0]'],
    [{ dirty_files: ['../other/a.ts'] }, 'dirty_files[0]'],
    [{ diff_hashes: { 'a.ts': 'the diff itself' } }, 'diff_hashes.a.ts'],
    [{ head: 'main' }, 'head'],
    [{ contents: {} }, 'contents'],
  ];
  for (const [args, field] of wrong) expect([args, (await snap(args)).reply]).toMatchObject([args, { code: 'INVALID_INPUT', data: { field } }]);
  expect((await snap({ dirty_files: files.slice(1), unpushed_files: files.slice(1) })).reply.status).toBe('ok');
});

test('a session without a repository must name it in the snapshot', async () => {
  const { ana, call } = await services();
  const { session_id } = (await call({ operation: 'start' }, ana)).reply.data as { session_id: string };
  expect((await call({ operation: 'snapshot', session_id }, ana)).reply).toMatchObject({ code: 'INVALID_INPUT', data: { field: 'repo' } });
  expect((await call({ operation: 'snapshot', session_id, repo: 'site' }, ana)).reply.status).toBe('ok');
  expect((await call({ operation: 'snapshot', session_id }, ana)).reply).toMatchObject({ status: 'ok', data: { local_graph: { repo: 'site' } } });
});

test('snapshots form the graph of the repository: worktrees and branches with owners, files and commits [session.snapshot.local-graph]', async () => {
  const { ben, clock, graph, taken } = await services();
  await taken({ branch: 'parser', worktree: 'main', dirty_files: ['src/a.ts'], recent_commits: [{ sha: SHA, title: 'Add the grammar' }] });
  clock.advance(1_000);
  await taken({ branch: 'lexer', worktree: 'second', unpushed_files: ['src/c.ts'] });
  clock.advance(1_000);
  const { local_graph } = await taken({ branch: 'docs', dirty_files: ['README.md'] }, ben);
  expect(local_graph).toEqual(await graph(ben));
  expect(local_graph.worktree_count).toBe(3);
  expect(
    local_graph.worktrees.map(({ developer, branch, worktree, dirty_files, unpushed_files }) => [developer, branch, worktree, dirty_files, unpushed_files]),
  ).toEqual([
    ['ben', 'docs', null, ['README.md'], []],
    ['ana', 'lexer', 'second', [], ['src/c.ts']],
    ['ana', 'parser', 'main', ['src/a.ts'], []],
  ]);
  expect(local_graph.worktrees[2]?.recent_commits).toEqual([{ sha: SHA, title: 'Add the grammar' }]);
  expect((await graph(ben, 'site')).worktrees).toEqual([]);
});

test('the latest snapshot of a place replaces the earlier one', async () => {
  const { clock, graph, taken } = await services();
  const first = await taken({ branch: 'parser', worktree: 'main', dirty_files: ['src/a.ts'], recent_commits: [SHA] });
  clock.advance(1_000);
  const second = await taken({ branch: 'parser', worktree: 'main', dirty_files: ['src/b.ts'] });
  expect(second.worktree_id).toBe(first.worktree_id);
  expect((await graph()).worktrees).toMatchObject([{ dirty_files: ['src/b.ts'], recent_commits: [], updated_at: clock.now() }]);
});

test('dirty files move with a worktree to its next branch; unpushed files stay with their branch', async () => {
  const { ben, graph, snap, taken } = await services();
  await taken({ branch: 'parser', worktree: 'main', dirty_files: ['src/a.ts'], unpushed_files: ['src/b.ts'] });
  await taken({ branch: 'lexer', worktree: 'main', dirty_files: ['src/c.ts'] });
  const { worktrees } = await graph();
  expect(worktrees.find(({ branch }) => branch === 'parser')).toMatchObject({ dirty_files: [], unpushed_files: ['src/b.ts'] });
  expect((await snap({ dirty_files: ['src/a.ts'] }, ben)).reply.status).toBe('ok');
  expect((await snap({ dirty_files: ['src/b.ts', 'src/c.ts'] }, ben)).reply).toMatchObject({ code: 'FILE_OVERLAP' });
});

test("a snapshot that overlaps another developer's work is a warning with the owner and the next step [session.snapshot.overlap-warns]", async () => {
  const { ben, events, snap, taken } = await services();
  await taken({ branch: 'parser', dirty_files: ['src/a.ts', 'src/b.ts'] });
  const { reply, isError } = await snap({ branch: 'docs', unpushed_files: ['src/b.ts', 'src/z.ts'] }, ben);
  expect(isError).toBe(false);
  expect(reply).toMatchObject({
    status: 'warning',
    code: 'FILE_OVERLAP',
    message: expect.stringContaining('ana'),
    next: expect.stringContaining('operation "ask", to "ana"'),
    data: { file_conflicts: [{ source: 'snapshot', owner: 'ana', same_developer: false, files: ['src/b.ts'], title: 'parser' }] },
  });
  expect(await events({ category: 'feedback' })).toMatchObject([{ payload: { type: 'warning', code: 'FILE_OVERLAP' } }]);
});

test("the developer's own work elsewhere, other repositories, and files reported more than a day ago cause no conflict", async () => {
  const { ana, ben, call, clock, session, snap, taken } = await services();
  await taken({ branch: 'parser', worktree: 'one', dirty_files: ['src/a.ts'] });
  expect((await taken({ branch: 'lexer', worktree: 'two', dirty_files: ['src/a.ts'] })).file_conflicts).toEqual([]);
  expect((await snap({ repo: 'site', dirty_files: ['src/a.ts'] }, ben)).reply.status).toBe('ok');
  expect((await snap({ repo: 'covenant', dirty_files: ['src/a.ts'] }, ben)).reply.status).toBe('warning');
  clock.advance(24 * HOUR);
  const again = await session(ana);
  expect((await call({ operation: 'snapshot', session_id: again, dirty_files: ['src/a.ts'] }, ana)).reply.status).toBe('ok');
});

test("files that a teammate's open task names count as in use", async () => {
  const { ben, snap, tool } = await services();
  const planned = await tool('covibe_task', { operation: 'plan', title: 'Rework the lexer', task_type: 'refactor', target_files: ['src/lexer.ts'] }, ben);
  expect(planned.reply.status).toBe('ok');
  expect((await snap({ dirty_files: ['src/lexer.ts'] })).reply).toMatchObject({
    code: 'FILE_OVERLAP',
    data: { file_conflicts: [{ source: 'task', owner: 'ben', title: 'Rework the lexer' }] },
  });
});

test('files stay marked after the session ends, because they are still dirty', async () => {
  const { ana, ben, call, sessions, snap, taken } = await services();
  await taken({ dirty_files: ['src/a.ts'] });
  await call({ operation: 'end', session_id: sessions.ana }, ana);
  expect((await snap({ dirty_files: ['src/a.ts'] }, ben)).reply.status).toBe('warning');
});

test('the graph and conflicts show no name, id or path of a private developer', async () => {
  const { ana, ben, done, graph, snap, taken } = await services();
  await taken({ branch: 'ana/parser', worktree: '/home/ana/covenant', dirty_files: ['src/a.ts'] });
  await done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  const { reply } = await snap({ dirty_files: ['src/a.ts'] }, ben);
  expect(reply).toMatchObject({ code: 'FILE_OVERLAP', data: { file_conflicts: [{ owner: '@private' }] } });
  expect(reply).toMatchObject({ next: expect.stringContaining('private, so you cannot ask them') });
  const seen = JSON.stringify([reply, await graph(ben)]);
  for (const secret of [ana.principal.developerId as string, '/home/ana', '"ana"', 'ana/parser']) expect(seen).not.toContain(secret);
  expect((await graph(ana)).worktrees.find(({ branch }) => branch === 'ana/parser')).toMatchObject({ developer: 'ana', worktree: '/home/ana/covenant' });
});

test('a worktree that is not reported for a month leaves the graph', async () => {
  const { ana, app, clock, graph, session, call, taken } = await services();
  await taken({ branch: 'old', recent_commits: [SHA], dirty_files: ['src/a.ts'] });
  clock.advance(31 * 24 * HOUR);
  const session_id = await session(ana);
  await call({ operation: 'snapshot', session_id, branch: 'new' }, ana);
  expect((await graph()).worktrees.map(({ branch }) => branch)).toEqual(['new']);
  for (const table of ['repo_commits', 'file_marks'] as const) expect(await app.store.reader.selectFrom(table).selectAll().execute()).toEqual([]);
});

test('credentials in a remote URL are stored nowhere', async () => {
  const { app, events, taken } = await services();
  const { local_graph } = await taken({ repo: 'https://ana:s3cret@example.com/covenant.git' });
  expect(local_graph.repo).toBe('https://example.com/covenant.git');
  const rows = await app.store.reader.selectFrom('local_worktrees').selectAll().execute();
  expect(JSON.stringify([rows, await events()])).not.toContain('s3cret');
});

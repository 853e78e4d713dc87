import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { SAME_THUMBNAILS, THUMBNAILS, teamApp } from '../../../testing/scenes/team.ts';
import { temporaryDatabase } from '../../../testing/store/database.ts';

type Found = { id: string; level: string; score: number; task_type: string; file_overlap: string[]; action_divergent: boolean };

test('a match with an opposed action is stored but not escalated [overlap.escalation.opposed-action] [overlap.escalation.withholds-only] [team.file-conflicts.action-divergent]', async () => {
  const app = await teamApp();
  const id = await app.started({ ...THUMBNAILS, action: 'create' }, app.ben);
  expect((await app.task('check', { ...SAME_THUMBNAILS, action: 'create' })).data.candidates).toHaveLength(1);
  const check = await app.task('check', { ...SAME_THUMBNAILS, action: 'remove' });
  expect(check).toMatchObject({ status: 'ok', data: { requires_verdict: false, warning_id: expect.stringMatching(/^warn_/) } });
  expect(check.data.matches).toEqual([expect.objectContaining({ id, level: 'warn', action_divergent: true })]);
  expect((await app.task('start', { ...SAME_THUMBNAILS, action: 'remove' })).status).toBe('ok');
});

test('a match with a different declared component is stored but not escalated [overlap.escalation.different-component] [overlap.escalation.withholds-only]', async () => {
  const app = await teamApp();
  await app.started({ ...THUMBNAILS, component: 'server' }, app.ben);
  const level = async (component?: string) =>
    (await app.task('check', { ...SAME_THUMBNAILS, ...(component ? { component } : {}) })).data.matches.map((match: Found) => match.level);
  expect(await level('client')).toEqual(['warn']);
  expect(await level('Server')).toEqual(['escalated']);
  expect(await level()).toEqual(['escalated']);
});

test('an uninformative title never blocks [overlap.escalation.low-information]', async () => {
  const app = await teamApp();
  for (const title of ['Fix bug', 'Update tests', 'Refactor code', 'WIP']) {
    await app.started({ title, task_type: 'chore' }, app.ben);
    const check = await app.task('check', { title, task_type: 'chore' });
    expect(check.data.requires_verdict, title).toBe(false);
    expect((await app.task('start', { title, task_type: 'chore' })).status, title).toBe('ok');
  }
});

test('only open work is escalated [overlap.escalation.open-work-only]', async () => {
  const app = await teamApp();
  const done = await app.started(THUMBNAILS, app.ben);
  await app.task('complete', { task_id: done, result_summary: 'r' }, app.ben);
  const dropped = await app.planned({ ...THUMBNAILS, title: 'Cache the thumbnails of the gallery' }, app.ben);
  await app.task('cancel', { task_id: dropped, reason: 'r' }, app.ben);
  const check = await app.task('check', SAME_THUMBNAILS);
  expect(check.data.requires_verdict).toBe(false);
  expect(check.data.matches.map((match: Found) => match.id).sort()).toEqual([done, dropped].sort());
  expect((await app.task('start', SAME_THUMBNAILS)).status).toBe('ok');
});

test('a candidate has its task_type, which does not affect the score [team.task-type.on-candidates] [team.task-type.no-weight]', async () => {
  const app = await teamApp();
  await app.started({ ...THUMBNAILS, task_type: 'refactor' }, app.ben);
  const found = await Promise.all(
    ['feature', 'bug', 'refactor', 'docs'].map(async (task_type) => (await app.task('check', { ...SAME_THUMBNAILS, task_type })).data.candidates),
  );
  for (const candidates of found) expect(candidates).toEqual([expect.objectContaining({ task_type: 'refactor', score: found[0][0].score })]);
});

test('shared files are shown on the candidate and raise the score, but alone never escalate a match [team.file-conflicts.on-candidates] [team.file-conflicts.inform-only]', async () => {
  const app = await teamApp();
  const files = ['src/gallery/cache.ts', 'src/gallery/disk.ts'];
  await app.started({ ...THUMBNAILS, target_files: files }, app.ben);
  const without = (await app.task('check', SAME_THUMBNAILS)).data.candidates[0] as Found;
  const withFiles = (await app.task('check', { ...SAME_THUMBNAILS, target_files: files })).data.candidates[0] as Found;
  expect(without.file_overlap).toEqual([]);
  expect(withFiles.file_overlap.sort()).toEqual(files);
  expect(withFiles.score).toBeGreaterThan(without.score);
  const other = await app.task('check', { title: 'Translate the imprint into French', task_type: 'docs', target_files: files });
  expect(other.data.requires_verdict).toBe(false);
  expect(other.data.file_conflicts).toHaveLength(1);
});

test('files that an agent claims or changes are added to its running work', async () => {
  const app = await teamApp();
  const session = await app.session(app.ben, { repo: 'acme/app' });
  await app.started({ ...THUMBNAILS, session_id: session }, app.ben);
  const overlap = async () =>
    ((await app.task('check', { ...SAME_THUMBNAILS, target_files: ['src/a.ts', 'src/b.ts'] })).data.candidates[0] as Found).file_overlap.sort();
  expect(await overlap()).toEqual([]);
  await app.call('covibe_coordination', 'claim', { repo: 'acme/app', paths: ['src/a.ts'], session_id: session }, app.ben);
  expect(await overlap()).toEqual(['src/a.ts']);
  await app.call('covibe_session', 'snapshot', { session_id: session, repo: 'acme/app', branch: 'main', dirty_files: ['src/b.ts'] }, app.ben);
  expect(await overlap()).toEqual(['src/a.ts', 'src/b.ts']);
});

test('only the recipient of a warning can dismiss it, with a reason, and a required verdict is still required [team.warning.dismiss] [team.surface.warning-operations]', async () => {
  const app = await teamApp();
  await app.started(THUMBNAILS, app.ben);
  const check = await app.task('check', SAME_THUMBNAILS);
  const dismiss = (args: object, caller = app.ana) => app.call('covibe_warning', 'dismiss', { warning_id: check.data.warning_id, ...args }, caller);
  for (const operation of ['confirm', null])
    expect((await app.call('covibe_warning', operation, { warning_id: 'x', reason: 'r' })).data.field).toBe('operation');
  expect((await dismiss({})).data.field).toBe('reason');
  expect((await dismiss({ reason: 'r' }, app.ben)).data.code).toBe('WARNING_NOT_FOUND');
  expect(await dismiss({ reason: 'we talked' })).toMatchObject({ status: 'ok', data: { status: 'dismissed' } });
  expect(await dismiss({ reason: 'again' })).toMatchObject({ status: 'warning', data: { code: 'ALREADY_RESOLVED' } });
  expect(await app.events({ kind: 'warning.dismissed' })).toHaveLength(1);
  expect((await app.team('state')).data.overlap_warnings).toEqual([]);
  expect((await app.task('start', SAME_THUMBNAILS)).data.code).toBe('VERDICT_REQUIRED');
});

test('a warning dismissed by hand keeps its reason, even if all its matches have ended by the start', async () => {
  const app = await teamApp();
  const first = await app.started(THUMBNAILS, app.ben);
  const { warning_id } = (await app.task('check', SAME_THUMBNAILS)).data;
  await app.call('covibe_warning', 'dismiss', { warning_id, reason: 'we talked' });
  await app.task('complete', { task_id: first, result_summary: 'r' }, app.ben);
  const start = await app.task('start', SAME_THUMBNAILS);
  expect(await app.done('overlap.show', { warning_id })).toMatchObject({
    overlap: { status: 'dismissed', reason: 'we talked', subject_id: start.data.task_id },
  });
  expect(await app.events({ kind: 'warning.dismissed' })).toHaveLength(1);
});

test('a workspace sets its own thresholds and restores the defaults', async () => {
  const app = await teamApp();
  await app.started(THUMBNAILS, app.ben);
  const { defaults } = await app.done('overlap.configure', { escalate: 50 });
  expect((await app.task('check', SAME_THUMBNAILS)).data.requires_verdict).toBe(false);
  expect((await app.action('overlap.configure', { warn: 60 })).reply).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await app.done('overlap.configure', { reset: true })).toMatchObject({ settings: defaults, own: false });
  expect((await app.task('check', SAME_THUMBNAILS)).data.requires_verdict).toBe(true);
  expect(await app.events({ kind: 'overlap.configured' })).toHaveLength(2);
});

test("a warning about a private developer's work does not name that developer to anybody else", async () => {
  const app = await teamApp();
  await app.started(THUMBNAILS);
  await app.done('developers.set_visibility', { developer: 'ana', visibility: 'private' });
  await app.task('check', SAME_THUMBNAILS);
  const read = async (caller: TestCaller) => {
    const web = { ...caller, principal: { ...caller.principal, web: true } };
    const { items } = (await app.done('events.list', { latest: 1_000 }, web)) as { items: { category: string; payload: object }[] };
    return JSON.stringify(items.filter(({ category }) => category === 'feedback').map(({ payload }) => payload));
  };
  expect(await read(app.ana)).toContain('by ana');
  expect(await read(app.ben)).toContain('OVERLAP_ESCALATED');
  expect(await read(app.ben)).not.toMatch(/\bana\b/);
});

test('when two agents check and start the same work at the same time on two servers, one starts and the other gets the started task as a candidate', async () => {
  const database = await temporaryDatabase();
  const first = await teamApp({ database });
  const second = await teamApp({ database });
  for (let round = 0; round < 5; round++) {
    const words = ['Compress backups', 'Sign release archives', 'Paginate audit exports', 'Warm the currency cache', 'Prune orphaned avatars'][round];
    const task = { title: `${words} before the nightly run uploads them`, task_type: 'feature' };
    const checks = await Promise.all([first.task('check', task, first.ana), second.task('check', task, second.ben)]);
    expect(checks.map((check) => check.data.requires_verdict)).toEqual([false, false]);
    const starts = await Promise.all([first.task('start', task, first.ana), second.task('start', task, second.ben)]);
    const passed = starts.filter(({ status }) => status === 'ok');
    const blocked = starts.filter(({ status }) => status === 'blocked');
    expect([passed.length, blocked.length]).toEqual([1, 1]);
    expect(blocked[0]?.data).toMatchObject({ code: 'NEW_OVERLAP', candidates: [expect.objectContaining({ id: passed[0]?.data.task_id })] });
  }
});

test('the index survives a restart, and drops work that was finished long ago', async () => {
  const database = await temporaryDatabase();
  const before = await teamApp({ database });
  const kept = await before.started(THUMBNAILS, before.ben);
  const old = await before.started({ title: 'Rename the billing module', task_type: 'refactor' }, before.ben);
  await before.task('complete', { task_id: old, result_summary: 'r' }, before.ben);
  const after = await teamApp({ database, clock: before.clock });
  expect((await after.task('check', SAME_THUMBNAILS)).data.candidates).toEqual([expect.objectContaining({ id: kept })]);
  before.clock.advance(15 * 24 * 3_600_000);
  await expect.poll(async () => (await after.app.store.reader.selectFrom('overlap_items').select('id').execute()).map(({ id }) => id)).toEqual([kept]);
  const terms = await after.app.store.reader.selectFrom('overlap_terms').select('term').execute();
  const postings = await after.app.store.reader.selectFrom('overlap_postings').select('term').distinct().execute();
  expect(terms.map(({ term }) => term)).not.toContain('bill');
  expect(postings.length).toBeLessThanOrEqual(terms.length);
  expect((await after.app.store.reader.selectFrom('overlap_state').select('items').executeTakeFirst())?.items).toBe(1);
});

test('in a batch of tasks with mostly the same words, the same task still matches, and the other tasks do not', async () => {
  const app = await teamApp();
  const parts =
    'invoice avatar backup gallery archive mailer profile billing catalog checkout comment friend photo music map order cart wallet badge poll forum'.split(
      ' ',
    );
  for (const part of parts) await app.task('plan', { title: `Retry failed uploads of the ${part} module`, task_type: 'feature' }, app.ben);
  const check = await app.task('check', { title: 'Retry failed uploads of the wallet module', task_type: 'feature' });
  expect(check.data.candidates).toEqual([expect.objectContaining({ title: 'Retry failed uploads of the wallet module', owner: 'ben' })]);
  expect((await app.task('check', { title: 'Retry failed uploads of the zebra module', task_type: 'feature' })).data.candidates).toEqual([]);
});

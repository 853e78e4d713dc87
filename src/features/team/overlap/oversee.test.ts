import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { SAME_THUMBNAILS, THUMBNAILS, teamApp } from '../../../testing/scenes/team.ts';

const asPerson = (caller: TestCaller, operator = false): TestCaller => ({ ...caller, principal: { ...caller.principal, web: true, operator } });

type Listed = { items: { warning_id: string; judged_by: string | null; verdict: string | null; status: string; mine: boolean }[]; more: boolean };

test('an overlap shows who resolved it by verdict or by hand, or null if the server resolved it; names of private developers are hidden', async () => {
  const app = await teamApp();
  const codex = await app.developer('ben', 'codex');
  const list = async (filter = {}, by = asPerson(app.ana)) => (await app.done('overlap.list', filter, by)) as unknown as Listed;
  await app.started(THUMBNAILS);
  const judged = await app.started(SAME_THUMBNAILS, codex);
  await app.task('check', SAME_THUMBNAILS, codex);
  const [open, first] = (await list()).items;
  expect(open).toMatchObject({ status: 'open', judged_by: null, verdict: null, mine: false });
  expect(first).toMatchObject({ status: 'judged', judged_by: 'codex@ben', verdict: 'distinct' });
  expect((await list({ subject_id: judged })).items).toEqual([first]);
  expect((await list({ open: true, level: 'escalated' })).items).toEqual([open]);
  expect((await list({ level: 'warn' })).items).toEqual([]);

  const planned = await app.planned(SAME_THUMBNAILS);
  await app.task('cancel', { task_id: planned, reason: 'r' });
  expect((await list()).items[0]).toMatchObject({ status: 'dismissed', judged_by: null });

  const page = await list({ limit: 2 });
  expect(page).toMatchObject({ more: true, items: { length: 2 } });
  expect(await list({ limit: 2, before: page.items[1]?.warning_id })).toMatchObject({ more: false, items: [{ warning_id: first?.warning_id }] });

  await app.done('developers.set_visibility', { developer: 'ben', visibility: 'private' });
  expect((await list({ subject_id: judged })).items).toMatchObject([{ judged_by: '@private', developer: '@private' }]);
});

test('a repository filter omits only warnings about work that is certainly in another repository', async () => {
  const app = await teamApp();
  const session = await app.session(app.ben, { repo: 'https://github.com/acme/shop' });
  await app.started(THUMBNAILS);
  await app.started({ ...SAME_THUMBNAILS, session_id: session }, app.ben);
  await app.task('check', SAME_THUMBNAILS);
  const count = async (repository: string) => ((await app.done('overlap.list', { repository }, asPerson(app.ana))) as unknown as Listed).items.length;
  expect([await count('shop'), await count('other')]).toEqual([2, 1]);
});

test('a person can dismiss their own warning, and an operator any warning, with a reason and only once', async () => {
  const app = await teamApp();
  await app.started(THUMBNAILS);
  const { data } = await app.task('check', SAME_THUMBNAILS, app.ben);
  const dismiss = async (by: TestCaller, args: object = { reason: 'we talked' }) =>
    (await app.action('overlap.dismiss', { warning_id: data.warning_id.slice(-10), ...args }, by)).reply;
  expect(await dismiss(asPerson(app.ben), {})).toMatchObject({ code: 'INVALID_INPUT' });
  expect(await dismiss(app.ben)).toMatchObject({ code: 'OPERATOR_REQUIRED' });
  expect(await dismiss(asPerson(app.ana))).toMatchObject({ code: 'OPERATOR_REQUIRED', message: 'This warning belongs to another developer.' });
  expect(await dismiss(asPerson(app.ana, true))).toMatchObject({ status: 'ok' });
  expect(await dismiss(asPerson(app.ben))).toMatchObject({ status: 'error', code: 'ALREADY_RESOLVED' });
  expect(await app.events({ kind: 'warning.dismissed' })).toMatchObject([
    { actor: `developer:${app.ana.principal.developerId}`, payload: { automatic: false, reason: 'we talked' } },
  ]);
  expect(await app.done('overlap.show', { warning_id: data.warning_id }, asPerson(app.ben))).toMatchObject({
    overlap: { status: 'dismissed', reason: 'we talked', judged_by: 'ana', mine: true },
  });
  expect((await app.task('start', SAME_THUMBNAILS, app.ben)).data.code).toBe('VERDICT_REQUIRED');
});

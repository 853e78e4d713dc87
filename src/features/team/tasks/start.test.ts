import { expect, test } from 'vitest';
import { type TeamAnswer, teamApp } from '../../../testing/scenes/team.ts';

const upload = {
  title: 'Retry failed uploads with exponential backoff',
  task_type: 'feature',
  scope: 'The upload client retries a failed chunk with growing pauses',
};
const sameUpload = { title: 'Add exponential backoff when uploads fail', task_type: 'feature', scope: 'Retry failed upload chunks, waiting longer each time' };
const unrelated = { title: 'Translate the settings page into German', task_type: 'chore' };

const distinct = (check: TeamAnswer) => ({
  verdict: 'distinct',
  candidates: check.data.candidates.map(({ id }: { id: string }) => ({ id, same_scope: false, reason: 'another part of the client' })),
});
const duplicate = (check: TeamAnswer) => ({
  verdict: 'duplicate',
  candidates: check.data.candidates.map(({ id }: { id: string }) => ({ id, same_scope: true, reason: 'the same retries' })),
});

async function escalated() {
  const app = await teamApp();
  const first = await app.started(upload, app.ben);
  const check = await app.task('check', sameUpload);
  return { ...app, first, check };
}

test('a check finds similar work of others and gives the reason in words [overlap.escalated.check-shape] [team.check.shape] [team.envelope.warning-in-answer]', async () => {
  const { check, first } = await escalated();
  expect(check.status).toBe('warning');
  expect(check.feedback.required_action).toContain('scope_verdict');
  expect(check.data).toMatchObject({ check_id: expect.stringMatching(/^chk_/), warning_id: expect.stringMatching(/^warn_/), requires_verdict: true });
  expect(check.data.candidates).toEqual([
    expect.objectContaining({
      id: first,
      type: 'task',
      owner: 'ben',
      status: 'active',
      level: 'escalated',
      score: expect.any(Number),
      reason: expect.stringMatching(/upload/),
    }),
  ]);
});

test('a check without overlap is ok and requires nothing [team.envelope.ok]', async () => {
  const app = await teamApp();
  const check = await app.task('check', upload);
  expect(check).toMatchObject({ status: 'ok', message: expect.any(String), feedback: { type: 'info', required_action: null } });
  expect(check.data).toMatchObject({ requires_verdict: false, candidates: [], matches: [], warning_id: null, file_conflicts: [], engine: { embedder: 'off' } });
  expect(Object.keys(check).sort()).toEqual(['data', 'feedback', 'message', 'status']);
});

test('a start without a check is blocked, and nothing becomes active [team.start.needs-recent-check] [team.envelope.blocked] [team.envelope.next-action]', async () => {
  const app = await teamApp();
  const start = await app.task('start', upload);
  expect(start).toMatchObject({ status: 'blocked', feedback: { type: 'block' }, data: { code: 'CHECK_REQUIRED', warning_id: null, matches: [] } });
  expect(start.feedback.required_action).toContain('check');
  const other = await app.task('check', { ...unrelated });
  expect(other.status).toBe('ok');
  expect((await app.task('start', upload)).data.code).toBe('CHECK_REQUIRED');
  await app.task('check', upload, app.ben);
  expect((await app.task('start', upload)).data.code).toBe('CHECK_REQUIRED');
  expect((await app.team('state')).data.active_work).toEqual([]);
});

test('a checked start makes the task active, with an event [team.start.active] [team.start.shape]', async () => {
  const app = await teamApp();
  await app.task('check', upload);
  const start = await app.task('start', { ...upload, description: 'd', action: 'modify', component: 'client', target_files: ['src/upload.ts'] });
  expect(start).toMatchObject({
    status: 'ok',
    data: { task_id: expect.stringMatching(/^task_/), workstream_id: expect.stringMatching(/^wst_/), status: 'active' },
  });
  const [event] = await app.events({ kind: 'task.started' });
  expect(event).toMatchObject({ category: 'work', subject: start.data.task_id, payload: { title: upload.title } });
});

test('a check is valid for ten minutes, and not a moment longer [team.start.check-window]', async () => {
  const app = await teamApp();
  await app.task('check', upload);
  app.clock.advance(10 * 60_000);
  expect((await app.task('start', upload)).status).toBe('ok');
  await app.task('check', unrelated);
  app.clock.advance(10 * 60_000 + 1);
  const late = await app.task('start', unrelated);
  expect(late).toMatchObject({ status: 'blocked', data: { code: 'CHECK_EXPIRED' } });
  await app.task('check', unrelated);
  expect((await app.task('start', unrelated)).status).toBe('ok');
});

test('a check that failed does not count [team.start.failed-check]', async () => {
  const app = await teamApp();
  const wrong = await app.task('check', { ...upload, task_type: 'wish' });
  expect(wrong.status).toBe('error');
  expect((await app.task('start', upload)).data.code).toBe('CHECK_REQUIRED');
});

test('each check allows only one start', async () => {
  const app = await teamApp();
  await app.task('check', { title: 'Fix bug', task_type: 'bug' });
  expect((await app.task('start', { title: 'Fix bug', task_type: 'bug' })).status).toBe('ok');
  const again = await app.task('start', { title: 'Fix bug', task_type: 'bug' });
  expect(again).toMatchObject({ data: { code: 'CHECK_REQUIRED' }, message: expect.stringContaining('already used') });
});

test('an escalated check blocks the start until it is judged [overlap.start.verdict-required] [overlap.start.blocked-has-matches]', async () => {
  const { task, check, first, team } = await escalated();
  for (const answer of [{}, { check_id: check.data.check_id }, { scope_verdict: distinct(check) }]) {
    const start = await task('start', { ...sameUpload, ...answer });
    expect(start).toMatchObject({ status: 'blocked', data: { code: 'VERDICT_REQUIRED', warning_id: check.data.warning_id, requires_verdict: true } });
    expect(start.data.matches).toEqual([expect.objectContaining({ id: first })]);
    expect(start.feedback.required_action).toMatch(/check_id "chk_\w+" and scope_verdict/);
  }
  const byWarning = await task('start', { ...sameUpload, warning_id: check.data.warning_id, confirmation_reason: 'I want to' });
  expect(byWarning.data.code).toBe('VERDICT_REQUIRED');
  expect((await team('state')).data.active_work).toHaveLength(1);
});

test('a complete verdict "distinct" starts the work and is recorded [overlap.verdict.distinct-starts] [overlap.verdict.event] [overlap.verdict.shape]', async () => {
  const { task, check, events, app } = await escalated();
  const given = distinct(check);
  const [judged] = given.candidates;
  for (const [wrong, field] of [
    [{ ...given, verdict: 'maybe' }, 'verdict'],
    [{ ...given, candidates: undefined }, 'candidates'],
    [{ ...given, candidates: [{ ...judged, same_scope: 'no' }] }, 'candidates[0].same_scope'],
    [{ ...given, candidates: [{ ...judged, reason: undefined }] }, 'candidates[0].reason'],
  ] as const) {
    const answer = await task('start', { ...sameUpload, check_id: check.data.check_id, scope_verdict: wrong });
    expect(answer).toMatchObject({ status: 'error', data: { code: 'INVALID_INPUT', field: `scope_verdict.${field}` } });
  }
  const start = await task('start', { ...sameUpload, check_id: check.data.check_id, scope_verdict: given });
  expect(start.status).toBe('ok');
  const [event] = await events({ kind: 'scope.judged' });
  expect(event).toMatchObject({
    category: 'work',
    subject: start.data.task_id,
    payload: { duplicate: false, verdict: 'distinct', check_id: check.data.check_id },
  });
  const [stored] = await app.store.reader.selectFrom('scope_verdicts').selectAll().execute();
  expect(stored).toMatchObject({ subject_id: start.data.task_id, verdict: 'distinct' });
});

test('work judged as a duplicate starts only with a confirmation reason [overlap.verdict.duplicate-needs-reason] [overlap.verdict.duplicate-confirmed] [overlap.verdict.event-duplicate]', async () => {
  const { task, check, events } = await escalated();
  const answer = { ...sameUpload, check_id: check.data.check_id, scope_verdict: duplicate(check) };
  expect(await task('start', answer)).toMatchObject({ status: 'blocked', data: { code: 'CONFIRMATION_REASON_REQUIRED' } });
  expect((await task('start', { ...answer, confirmation_reason: 'Ben is on leave' })).status).toBe('ok');
  expect(await events({ kind: 'scope.judged' })).toEqual([
    expect.objectContaining({ payload: expect.objectContaining({ duplicate: true, confirmation_reason: 'Ben is on leave' }) }),
  ]);
});

test('a verdict must judge every candidate and be consistent [overlap.verdict.every-candidate]', async () => {
  const { task, check, started, ben } = await escalated();
  const third = await started({ ...sameUpload, title: 'Exponential backoff when an upload fails' }, ben);
  const again = await task('check', sameUpload);
  expect(again.data.candidates.map(({ id }: { id: string }) => id)).toContain(third);
  const start = (scope_verdict: object) => task('start', { ...sameUpload, check_id: again.data.check_id, scope_verdict });
  const partial = await start(distinct(check));
  expect(partial).toMatchObject({ status: 'blocked', data: { code: 'VERDICT_INCOMPLETE', missing: [third] } });
  expect(partial.message).toContain(third);
  const contradictory = { verdict: 'distinct', candidates: duplicate(again).candidates };
  expect((await start(contradictory)).data.code).toBe('VERDICT_INCONSISTENT');
  expect((await start({ verdict: 'duplicate', candidates: distinct(again).candidates })).data.code).toBe('VERDICT_INCONSISTENT');
  const foreign = { ...distinct(again), candidates: [...distinct(again).candidates, { id: 'task_X', same_scope: false, reason: 'no such' }] };
  expect((await start(foreign)).data.code).toBe('VERDICT_MISMATCH');
  expect((await start(distinct(again))).status).toBe('ok');
});

test("only the developer's own latest fresh check with the same title allows a start [overlap.verdict.check-own] [overlap.verdict.check-latest] [overlap.verdict.check-title] [overlap.verdict.check-age]", async () => {
  const { task, check, developer, clock } = await escalated();
  const cem = await developer('cem');
  const foreign = await task('check', sameUpload, cem);
  const start = (check_id: string, words: object = sameUpload, of = check) => task('start', { ...words, check_id, scope_verdict: distinct(of) });
  expect((await start(foreign.data.check_id)).data.code).toBe('CHECK_MISMATCH');
  expect((await start(check.data.check_id, { ...sameUpload, title: `${sameUpload.title}!` })).data.code).toBe('CHECK_REQUIRED');
  const latest = await task('check', sameUpload);
  expect((await start(check.data.check_id)).data.code).toBe('CHECK_MISMATCH');
  clock.advance(10 * 60_000 + 1);
  expect((await start(latest.data.check_id)).data.code).toBe('CHECK_EXPIRED');
  const fresh = await task('check', sameUpload);
  expect((await start(fresh.data.check_id, sameUpload, fresh)).status).toBe('ok');
});

test('matches that ended since the check do not block a start, and the warning is dismissed [overlap.start.dead-matches]', async () => {
  const { task, first, ben, events, started } = await escalated();
  const second = await started({ ...sameUpload, title: 'Exponential backoff when an upload fails' }, ben);
  const check = await task('check', sameUpload);
  expect(check.data.candidates).toHaveLength(2);
  await task('complete', { task_id: first, result_summary: 'done' }, ben);
  expect((await task('start', sameUpload)).data.code).toBe('VERDICT_REQUIRED');
  await task('cancel', { task_id: second, reason: 'Ana does it' }, ben);
  const start = await task('start', sameUpload);
  expect(start.status).toBe('ok');
  expect(await events({ kind: 'warning.dismissed' })).toEqual([
    expect.objectContaining({ subject: check.data.warning_id, payload: expect.objectContaining({ automatic: true, started: start.data.task_id }) }),
  ]);
});

test('a start with other words than its check must still judge the candidates of the check', async () => {
  const { task, check, first } = await escalated();
  const bare = { title: sameUpload.title, task_type: 'feature', component: 'docs', action: 'remove' };
  expect(await task('start', bare)).toMatchObject({
    status: 'blocked',
    data: { code: 'VERDICT_REQUIRED', candidates: [expect.objectContaining({ id: first, owner: 'ben' })] },
  });
  expect((await task('start', { ...bare, check_id: check.data.check_id, scope_verdict: distinct(check) })).status).toBe('ok');
});

test('new candidates are judged in addition to those of the check', async () => {
  const app = await teamApp();
  const first = await app.started({ ...upload, component: 'server' }, app.ben);
  expect((await app.task('check', sameUpload)).data.candidates).toHaveLength(1);
  const second = await app.started({ ...upload, component: 'docs' }, app.ben);
  const words = { ...sameUpload, component: 'docs' };
  const start = await app.task('start', words);
  expect(start).toMatchObject({ status: 'blocked', data: { code: 'NEW_OVERLAP' } });
  expect(start.data.candidates.map(({ id }: { id: string }) => id)).toEqual([first, second]);
  const answer = (...ids: string[]) => ({ verdict: 'distinct', candidates: ids.map((id) => ({ id, same_scope: false, reason: 'other work' })) });
  const judged = (...ids: string[]) => app.task('start', { ...words, check_id: start.data.check_id, scope_verdict: answer(...ids) });
  expect((await judged(second)).data).toMatchObject({ code: 'VERDICT_INCOMPLETE', missing: [first] });
  expect((await judged(first, second)).status).toBe('ok');
});

test('a warning_id sent with a verdict must also be the one of the latest check', async () => {
  const { task, check } = await escalated();
  const answer = { ...sameUpload, check_id: check.data.check_id, scope_verdict: distinct(check) };
  expect((await task('start', { ...answer, warning_id: 'warn_other' })).data.code).toBe('WARNING_MISMATCH');
  expect((await task('start', { ...answer, warning_id: check.data.warning_id })).status).toBe('ok');
});

test('the event of a long verdict in any script is shortened and stays readable', async () => {
  const { task, started, ben, events } = await escalated();
  for (let n = 0; n < 9; n++) await started({ ...upload, title: `${upload.title} on host ${n}` }, ben);
  const check = await task('check', sameUpload);
  const long = '同じ作業'.repeat(240);
  const scope_verdict = {
    verdict: 'duplicate',
    candidates: duplicate(check).candidates.map(({ id }: { id: string }) => ({ id, same_scope: true, reason: long })),
  };
  expect((await task('start', { ...sameUpload, check_id: check.data.check_id, scope_verdict, confirmation_reason: long })).status).toBe('ok');
  const judged = (await events({ kind: 'scope.judged' })).at(-1);
  expect(judged?.payload).toMatchObject({ duplicate: true, confirmation_reason: expect.stringMatching(/^同じ作業.*…$/) });
});

test('a weak warning is dismissed once all its matches have ended, and stays otherwise [overlap.start.dead-matches]', async () => {
  const app = await teamApp();
  await app.done('overlap.configure', { warn: 0.5, escalate: 90 });
  const [first, second] = [await app.started(upload, app.ben), await app.started({ ...upload, title: 'Retry of uploads that failed' }, app.ben)];
  const [kept, gone] = [await app.task('check', sameUpload), await app.task('check', { ...sameUpload, title: 'Backoff for uploads' })];
  const standing = async ({ data: { warning_id } }: TeamAnswer) =>
    ((await app.done('overlap.show', { warning_id })) as { overlap: { status: string } }).overlap.status;
  await app.task('complete', { task_id: first, result_summary: 'r' }, app.ben);
  const one = (await app.task('start', sameUpload)).data.task_id;
  expect(await standing(kept)).toBe('open');
  await app.task('cancel', { task_id: second, reason: 'r' }, app.ben);
  await app.task('cancel', { task_id: one, reason: 'r' });
  expect((await app.task('start', { ...sameUpload, title: 'Backoff for uploads' })).status).toBe('ok');
  expect(await standing(gone)).toBe('dismissed');
});

test('a weak match is disclosed, stored, and never blocks a start [overlap.warn-floor.disclosed] [overlap.warn-floor.stored] [overlap.warn-floor.never-blocks] [overlap.escalation.threshold]', async () => {
  const app = await teamApp();
  await app.done('overlap.configure', { warn: 0.5, escalate: 90 });
  await app.started(upload, app.ben);
  const check = await app.task('check', sameUpload);
  expect(check).toMatchObject({ status: 'ok', data: { requires_verdict: false, candidates: [], warning_id: expect.stringMatching(/^warn_/) } });
  expect(check.data.matches).toEqual([expect.objectContaining({ level: 'warn' })]);
  const { items } = await app.done('overlap.list', {});
  expect(items).toEqual([expect.objectContaining({ warning_id: check.data.warning_id, level: 'warn', status: 'open' })]);
  expect((await app.task('start', sameUpload)).status).toBe('ok');
});

test('a legacy confirmation counts only for the exact warning of the latest check, with a reason [overlap.legacy.exact-warning] [overlap.legacy.event]', async () => {
  const app = await teamApp();
  await app.done('overlap.configure', { warn: 0.5, escalate: 90 });
  await app.started(upload, app.ben);
  const old = await app.task('check', sameUpload);
  const check = await app.task('check', sameUpload);
  const start = (answer: object) => app.task('start', { ...sameUpload, ...answer });
  expect((await start({ warning_id: old.data.warning_id, confirmation_reason: 'r' })).data.code).toBe('WARNING_MISMATCH');
  expect((await start({ warning_id: check.data.warning_id })).data.code).toBe('CONFIRMATION_REASON_REQUIRED');
  const passed = await start({ warning_id: check.data.warning_id, confirmation_reason: 'agreed with Ben' });
  expect(passed.status).toBe('ok');
  expect(await app.events({ kind: 'warning.confirmed' })).toEqual([
    expect.objectContaining({ subject: check.data.warning_id, payload: { started: passed.data.task_id, reason: 'agreed with Ben' } }),
  ]);
});

test('the rules apply to a client that only uses /api/mcp [team.rules.enforced-by-server]', async () => {
  const app = await teamApp();
  const { url } = await app.serve();
  const send = async (args: object) => {
    const response = await fetch(`${url}/api/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${app.ana.token}` },
      body: JSON.stringify({ tool: 'covibe_task', arguments: args }),
    });
    return (await response.json()) as TeamAnswer;
  };
  expect(await send({ operation: 'start', ...upload })).toMatchObject({ status: 'blocked', data: { code: 'CHECK_REQUIRED' } });
  expect((await send({ operation: 'check', ...upload })).status).toBe('ok');
  expect((await send({ operation: 'start', ...upload })).status).toBe('ok');
});

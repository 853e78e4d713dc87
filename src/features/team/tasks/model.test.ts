import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TestCaller } from '../../../testing/app.ts';
import { runs } from '../../../testing/runs.ts';
import { type TeamAnswer, type TeamApp, teamApp } from '../../../testing/scenes/team.ts';
import { inRun } from '../../../testing/scope.ts';

/** Titles of work. Two of them are similar, and the third is different from both. */
const TITLES = ['Cache gallery thumbnails on disk for faster loading', 'Disk cache of gallery thumbnails for faster loading', 'Send invoices by mail'];
const MINUTE = 60_000;

type Status = 'planned' | 'active' | 'blocked' | 'completed' | 'cancelled';
type Answering = 'nothing' | 'distinct' | 'duplicate' | 'duplicate with reason' | 'stale check' | 'one missing';

type Step =
  | { do: 'check' | 'plan'; who: 0 | 1; title: number }
  | { do: 'start'; who: 0 | 1; title: number; answering: Answering }
  | { do: 'start_planned' | 'complete' | 'cancel' | 'block'; who: 0 | 1; task: number }
  | { do: 'wait'; minutes: number };

const who = fc.constantFrom<0 | 1>(0, 1);
const title = fc.nat({ max: TITLES.length - 1 });
const answering = fc.constantFrom<Answering>('nothing', 'distinct', 'duplicate', 'duplicate with reason', 'stale check', 'one missing');
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ do: fc.constantFrom('check' as const, 'plan' as const), who, title }), weight: 4 },
  { arbitrary: fc.record({ do: fc.constant('start' as const), who, title, answering }), weight: 5 },
  {
    arbitrary: fc.record({
      do: fc.constantFrom('start_planned' as const, 'complete' as const, 'cancel' as const, 'block' as const),
      who,
      task: fc.nat({ max: 9 }),
    }),
    weight: 3,
  },
  { arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.constantFrom(1, 6, 11) }), weight: 1 },
);

interface Check {
  id: string;
  at: number;
  candidates: string[];
  used: boolean;
}

/** A model of the expected state. It is computed without the server. */
class Model {
  readonly tasks = new Map<string, { owner: 0 | 1; status: Status }>();
  readonly checks = new Map<string, Check[]>();

  latest(of: 0 | 1, about: string): Check | undefined {
    return this.checks.get(`${of} ${about}`)?.at(-1);
  }

  open(ids: readonly string[]): string[] {
    return ids.filter((id) => ['planned', 'active', 'blocked'].includes(this.tasks.get(id)?.status ?? ''));
  }
}

const judged = (ids: readonly string[], same: boolean) => ids.map((id) => ({ id, same_scope: same, reason: 'r' }));

async function carryOut(app: TeamApp, model: Model, action: Step): Promise<void> {
  if (action.do === 'wait') return app.clock.advance(action.minutes * MINUTE);
  const caller = [app.ana, app.ben][action.who] as TestCaller;
  const now = app.clock.now();
  if ('title' in action && action.do !== 'start') {
    const words = { title: TITLES[action.title] as string, task_type: 'feature' };
    const answer = await app.task(action.do, words, caller);
    if (action.do === 'plan') model.tasks.set(answer.data.task_id, { owner: action.who, status: 'planned' });
    else remember(model, action.who, words.title, answer, now);
    return;
  }
  if (action.do === 'start') return await start(app, model, action, caller);
  const [id, known] = [...model.tasks][action.task % Math.max(1, model.tasks.size)] ?? [];
  if (id === undefined || !known) return;
  await change(app, model, action.do, action.who, id, known, caller);
}

function remember(model: Model, of: 0 | 1, about: string, answer: TeamAnswer, at: number): void {
  const candidates = answer.data.candidates.map((candidate: { id: string }) => candidate.id);
  // Finished work is never a candidate.
  expect(model.open(candidates)).toEqual(candidates);
  const key = `${of} ${about}`;
  model.checks.set(key, [...(model.checks.get(key) ?? []), { id: answer.data.check_id, at, candidates, used: false }]);
}

async function start(app: TeamApp, model: Model, action: Extract<Step, { do: 'start' }>, caller: TestCaller): Promise<void> {
  const words = { title: TITLES[action.title] as string, task_type: 'feature' };
  const check = model.latest(action.who, words.title);
  const earlier = model.checks.get(`${action.who} ${words.title}`)?.at(-2);
  const live = model.open(check?.candidates ?? []);
  const verdicts: Record<Answering, object> = {
    nothing: {},
    distinct: { check_id: check?.id, scope_verdict: { verdict: 'distinct', candidates: judged(live, false) } },
    duplicate: { check_id: check?.id, scope_verdict: { verdict: 'duplicate', candidates: judged(live, true) } },
    'duplicate with reason': { check_id: check?.id, scope_verdict: { verdict: 'duplicate', candidates: judged(live, true) }, confirmation_reason: 'agreed' },
    'stale check': { check_id: earlier?.id ?? 'chk_none', scope_verdict: { verdict: 'distinct', candidates: judged(live, false) } },
    'one missing': { check_id: check?.id, scope_verdict: { verdict: 'distinct', candidates: judged(live.slice(1), false) } },
  };
  const answer = await app.task('start', { ...words, ...verdicts[action.answering] }, caller);
  const isFresh = check !== undefined && !check.used && app.clock.now() - check.at <= 10 * MINUTE;
  if (answer.status === 'ok') {
    expect(isFresh).toBe(true);
    if (live.length > 0) expect(['distinct', 'duplicate with reason']).toContain(action.answering);
    if (check) check.used = true;
    model.tasks.set(answer.data.task_id, { owner: action.who, status: 'active' });
    return;
  }
  // A start with all the answers that its check required succeeds, unless somebody else has started similar work in the meantime.
  expect(answer.status).toBe('blocked');
  if (answer.data.code === 'NEW_OVERLAP') {
    const arrived = answer.data.candidates.map((candidate: { id: string }) => candidate.id).filter((id: string) => !check?.candidates.includes(id));
    expect(arrived.length).toBeGreaterThan(0);
    return remember(model, action.who, words.title, answer, app.clock.now());
  }
  const answered = live.length === 0 ? ['nothing', 'distinct'].includes(action.answering) : ['distinct', 'duplicate with reason'].includes(action.answering);
  expect(isFresh && answered).toBe(false);
}

const ALLOWED: Record<'start_planned' | 'complete' | 'cancel' | 'block', Status[]> = {
  start_planned: ['planned'],
  complete: ['active', 'blocked'],
  cancel: ['planned', 'active', 'blocked'],
  block: ['active', 'blocked'],
};
const AFTER: Record<keyof typeof ALLOWED, Status> = { start_planned: 'active', complete: 'completed', cancel: 'cancelled', block: 'blocked' };

async function change(
  app: TeamApp,
  model: Model,
  what: keyof typeof ALLOWED,
  by: 0 | 1,
  id: string,
  known: { owner: 0 | 1; status: Status },
  caller: TestCaller,
): Promise<void> {
  const calls = {
    start_planned: () => app.task('start_planned', { planned_task_id: id }, caller),
    complete: () => app.task('complete', { task_id: id, result_summary: 'r' }, caller),
    cancel: () => app.task('cancel', { task_id: id, reason: 'r' }, caller),
    block: () => app.task('update', { task_id: id, status: 'blocked' }, caller),
  };
  const answer = await calls[what]();
  if (known.owner !== by) return expect(answer.data.code).toBe('TASK_NOT_FOUND');
  if (what === 'complete' && known.status === 'completed') return expect(answer.data.code).toBe('ALREADY_COMPLETED');
  if (!ALLOWED[what].includes(known.status)) return expect(answer.data.code).toBe('INVALID_TRANSITION');
  // Planned work never starts in this model, because no check is made for a planned task.
  if (what === 'start_planned') return expect(answer.data.code).toBe('CHECK_REQUIRED');
  expect(answer.status).toBe('ok');
  model.tasks.set(id, { owner: known.owner, status: AFTER[what] });
}

test('no start of two developers bypasses a rule, and every task has the state that its history implies', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      inRun(async (steps) => {
        const app = await teamApp();
        const model = new Model();
        for (const action of steps) await carryOut(app, model, action);
        const rows = await app.app.store.reader.selectFrom('tasks').select(['id', 'status']).execute();
        expect(new Map(rows.map(({ id, status }) => [id, status]))).toEqual(new Map([...model.tasks].map(([id, { status }]) => [id, status])));
        const indexed = await app.app.store.reader.selectFrom('overlap_items').select(['id', 'status']).execute();
        expect(new Map(indexed.map(({ id, status }) => [id, status]))).toEqual(new Map(rows.map(({ id, status }) => [id, status])));
        const containers = await app.app.store.reader.selectFrom('workstreams').select(['id', 'status']).execute();
        for (const { id, status } of containers) {
          const open = await app.app.store.reader
            .selectFrom('tasks')
            .select('id')
            .where('workstream_id', '=', id)
            .where('status', 'in', ['planned', 'active', 'blocked'])
            .execute();
          expect(status).toBe(open.length > 0 ? 'active' : 'completed');
        }
      }),
    ),
    { ...runs(25), endOnFailure: true },
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../testing/runs.ts';
import { HOUR, type InstanceApp, instanceApp } from '../../../testing/scenes/instances.ts';
import type { Body } from '../../../testing/scenes/workflow.ts';
import { pretendedDisk } from '../../../testing/stand-ins/pretended-disk.ts';
import { ENGINE } from '../../../testing/store/database.ts';

/** A model of the review loop that does not use the implementation. */
interface Model {
  status: 'started' | 'waiting_review' | 'abandoned' | 'terminated';
  ran: number;
  failed: number;
  told: number;
  max: number;
  abandonAfter: number;
}

type Op =
  | { readonly op: 'request' | 'timeout' | 'stop review' | 'abandon' | 'stop' }
  | { readonly op: 'feedback'; readonly type: 'needs_work' | 'suggestions' | 'clarification' }
  | { readonly op: 'limits'; readonly max: number; readonly abandonAfter: number };

const isOver = ({ status }: Model) => status === 'abandoned' || status === 'terminated';

function fail(model: Model): void {
  if (++model.failed >= model.abandonAfter) model.status = 'abandoned';
}

/** Returns the code with which the model refuses a request, or undefined if the request is granted. */
function request(model: Model): string | undefined {
  if (isOver(model)) return 'over';
  if (model.status === 'waiting_review') return 'REVIEW_IN_PROGRESS';
  if (model.ran < model.max) {
    model.ran++;
    model.status = 'waiting_review';
    return undefined;
  }
  fail(model);
  return 'REVIEW_LIMIT_EXCEEDED';
}

function reviewEnds(model: Model): void {
  model.status = 'started';
  model.told++;
}

async function carryOut(t: InstanceApp, id: string, model: Model, step: Op): Promise<void> {
  const open = (await t.relationships(id)).find(({ ended_at }) => ended_at === null)?.child_instance as string | undefined;
  switch (step.op) {
    case 'limits':
      model.max = step.max;
      model.abandonAfter = step.abandonAfter;
      await t.done('settings.set', { key: 'review.max_iterations', value: step.max });
      await t.done('settings.set', { key: 'review.auto_abandon_after', value: step.abandonAfter });
      return;
    case 'request': {
      const expected = request(model);
      const caller = await t.as(id).catch(() => undefined);
      expect(caller === undefined).toBe(expected === 'over');
      if (caller) expect((await t.tool('request_review', {}, caller)).body.code).toBe(expected);
      break;
    }
    case 'feedback':
      if (open === undefined) return;
      reviewEnds(model);
      if (step.type === 'needs_work') fail(model);
      expect(await t.ok('send_feedback', { feedback: 'x', feedback_type: step.type }, open)).toMatchObject({ target_instance_id: id, delivered: 'merged' });
      break;
    case 'timeout':
      if (open !== undefined) reviewEnds(model);
      t.clock.advance(24 * HOUR);
      if (open !== undefined) await expect.poll(async () => (await t.instance(open)).status).toBe('terminated');
      break;
    case 'stop review':
      if (open === undefined) return;
      reviewEnds(model);
      await t.done('instances.stop', { instance_id: open });
      break;
    default:
      if (isOver(model)) return;
      model.status = step.op === 'stop' ? 'terminated' : 'abandoned';
      await t.done(`instances.${step.op}`, { instance_id: id });
  }
  await t.later(10_000);
}

async function compare(t: InstanceApp, id: string, model: Model): Promise<void> {
  const relationships = await t.relationships(id);
  const open = relationships.filter(({ ended_at }) => ended_at === null).map(({ child_instance }) => child_instance as string);
  const { status, failed_reviews, ended_at } = await t.instance(id);
  expect({ status, failed: failed_reviews, ran: relationships.length, open: open.length, isOver: ended_at !== null }).toEqual({
    status: model.status,
    failed: model.failed,
    ran: model.ran,
    open: model.status === 'waiting_review' ? 1 : 0,
    isOver: isOver(model),
  });
  expect(relationships.map(({ review_iteration }) => review_iteration)).toEqual(relationships.map((_, index) => index + 1));
  expect((await t.messages(id)).length).toBe(model.told);
  expect([...t.host.running.keys()].sort()).toEqual([...(isOver(model) ? [] : [id]), ...open].sort());
}

const limits = fc.record({ op: fc.constant('limits' as const), max: fc.integer({ min: 1, max: 3 }), abandonAfter: fc.integer({ min: 2, max: 5 }) });
const type = fc.constantFrom('needs_work' as const, 'suggestions' as const, 'clarification' as const);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Op>({ op: 'request' }) },
  { weight: 5, arbitrary: fc.record({ op: fc.constant('feedback' as const), type }) },
  { weight: 2, arbitrary: fc.constantFrom<Op>({ op: 'timeout' }, { op: 'stop review' }) },
  { weight: 1, arbitrary: limits },
  { weight: 1, arbitrary: fc.constantFrom<Op>({ op: 'abandon' }, { op: 'stop' }) },
);

const limited = (max: number, abandonAfter: number) => ({ op: 'limits' as const, max, abandonAfter });
const asked: Op = { op: 'request' };
/** Sequences that random generation rarely produces. */
const SELDOM: [ReturnType<typeof limited>, Op[]][] = [
  [limited(3, 2), [asked, { op: 'feedback', type: 'needs_work' }, asked, { op: 'feedback', type: 'needs_work' }]],
  [limited(1, 2), [asked, { op: 'feedback', type: 'suggestions' }, asked, asked]],
  [limited(2, 5), [asked, { op: 'timeout' }, limited(1, 2), { op: 'abandon' }]],
];

test('after any sequence of requests, verdicts, stops and waiting, status, counters, sessions and messages follow the rules', async () => {
  const t = await instanceApp(pretendedDisk);
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { minLength: 6, maxLength: 16 }), async (first, steps) => {
      const { id } = (await t.done('instances.start', { repository_path: '/srv/app', type: 'coding', issue: 1, agent: 'tiny' })) as Body;
      const model: Model = { status: 'started', ran: 0, failed: 0, told: 0, max: 3, abandonAfter: 5 };
      await carryOut(t, id, model, first);
      for (const one of steps) {
        const wasOver = isOver(model);
        await carryOut(t, id, model, one);
        await compare(t, id, model);
        if (!wasOver) seen.add(one.op === 'request' || one.op === 'feedback' ? `${one.op} → ${model.status}` : one.op);
      }
      await carryOut(t, id, model, { op: 'stop' });
      await compare(t, id, model);
    }),
    { ...runs(12), examples: SELDOM, endOnFailure: true },
  );
  if (ENGINE !== 'sqlite') return;
  // The sequences must have covered every kind of change. Otherwise the comparison with the model would prove nothing.
  const ways = ['request → waiting_review', 'request → started', 'request → abandoned', 'feedback → started', 'feedback → abandoned'];
  expect([...seen]).toEqual(expect.arrayContaining([...ways, 'timeout', 'stop review', 'abandon', 'stop', 'limits']));
});

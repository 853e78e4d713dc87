import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { Refusal } from '../../../kernel/reply.ts';
import { TimeSlice } from '../../../kernel/time-slice.ts';
import { runs } from '../../../testing/runs.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../workflows/index.ts';
import { type LoadedContext, packContext } from './context.ts';
import type { Include } from './contract.ts';
import { checkpointEntry, dependencyEntry, priorEntry, type Scale, siblingEntry } from './entries.ts';
import { loadTokenizer } from './tokens.ts';

const tokens = await loadTokenizer();
/** Counts tokens directly with the tokenizer package, not with the code under test. */
const measured = (value: unknown) => countTokens(JSON.stringify(value), { disallowedSpecial: new Set() });

const words = fc.oneof(
  fc.lorem({ maxCount: 120 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.base64String({ maxLength: 1_200 }),
  fc.constantFrom('', '漢字'.repeat(150), '👩‍👩‍👧'.repeat(60), '<|endoftext|>'.repeat(9), '"\\\n'.repeat(90), 'a'.repeat(2_000)),
);
const name = fc.oneof(fc.lorem({ maxCount: 4 }), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }));
const json = fc.dictionary(name, fc.oneof(words, fc.array(words, { maxLength: 6 }), fc.jsonValue()), { maxKeys: 6 }) as fc.Arbitrary<Record<string, unknown>>;
const status = fc.constantFrom('completed', 'skipped', 'failed', 'in_progress') as fc.Arbitrary<'completed'>;
const list = <T>(each: fc.Arbitrary<T>) => fc.array(each, { maxLength: 30 });

const state = fc.record({
  workflowName: name,
  source: words,
  plan: fc.option(fc.record({ summary: words, approach: words, risks: fc.array(words, { maxLength: 4 }), assumptions: fc.array(words, { maxLength: 4 }) })),
  name,
  description: words,
  taskPlan: fc.option(json),
  context: fc.option(json),
  files: fc.array(name, { maxLength: 20 }),
  checkpoints: list(fc.record({ summary: words, detail: fc.option(json), files_changed: fc.array(name, { maxLength: 5 }) })),
  prior: list(fc.record({ name, outcome: words, status, description: words, plan: fc.option(json), outcome_detail: fc.option(json) })),
  siblings: list(fc.record({ name, status, brief_summary: words })),
  dependencies: list(fc.record({ task_name: name, outcome: words, status })),
  unread: fc.record({ checkpoints: fc.nat(3), prior: fc.nat(3) }),
});
type State = typeof state extends fc.Arbitrary<infer T> ? T : never;

const include: fc.Arbitrary<Include> = fc.record({
  workflow_plan: fc.boolean(),
  workflow_summary: fc.boolean(),
  prior_task_outcomes: fc.boolean(),
  prior_task_full: fc.boolean(),
  sibling_status: fc.boolean(),
  dependency_outcomes: fc.boolean(),
  all_checkpoints: fc.boolean(),
  recent_checkpoints: fc.nat(20),
});

async function packed(given: State, wanted: Include, max: number): Promise<LoadedContext> {
  const scale: Scale = { tokens, max };
  const workflow = {
    id: 'wf_1',
    name: given.workflowName,
    source_type: 'prompt',
    source_content: given.source,
    plan: given.plan === null ? null : JSON.stringify(given.plan),
    status: 'ready',
    max_parallel_tasks: 3,
  } as WorkflowRow;
  const task = {
    id: 'tk_1',
    name: given.name,
    description: given.description,
    plan: given.taskPlan === null ? null : JSON.stringify(given.taskPlan),
    context: given.context === null ? null : JSON.stringify(given.context),
    files: JSON.stringify(given.files),
    status: 'in_progress',
    open_dependencies: 0,
    assigned_agent_id: null,
    worktree_id: null,
    fence: 7,
  } as WorkflowTaskRow;
  const found = <T>(entries: T[], unread = 0) => ({ entries, total: entries.length + unread });
  const checkpoints = given.checkpoints.map((each, at) =>
    checkpointEntry(scale, {
      ...each,
      id: `cp_${at}`,
      task_id: 'tk_1',
      sequence: 1_000 - at,
      type: 'progress',
      agent_id: null,
      created_at: 1_760_000_000_000 + at,
    }),
  );
  return await packContext(
    { workflow, task, include: wanted, max },
    {
      checkpoints: found(checkpoints, given.unread.checkpoints),
      prior: wanted.prior_task_outcomes
        ? found(
            given.prior.map((each, at) => priorEntry(scale, { ...each, id: `tk_p${at}` }, wanted.prior_task_full ? 'full' : 'summary')),
            given.unread.prior,
          )
        : found([]),
      siblings: wanted.sibling_status ? found(given.siblings.map((each, at) => siblingEntry(scale, { ...each, id: `tk_s${at}` }))) : found([]),
      dependencies: wanted.dependency_outcomes
        ? found(given.dependencies.map((each, at) => dependencyEntry(scale, { ...each, task_id: `tk_d${at}` })))
        : found([]),
    },
    scale,
    new TimeSlice(),
  );
}

test('every answer has exactly the size that it states, never exceeds the budget, and is the same every time [contextload.budget.never-exceeded] [contextload.budget.estimator]', async () => {
  const budget = fc.oneof(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 600, max: 20_000 }));
  await fc.assert(
    fc.asyncProperty(state, include, budget, async (given, wanted, max) => {
      let room = max;
      let context: LoadedContext;
      try {
        context = await packed(given, wanted, room);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        expect(error.code).toBe('BUDGET_TOO_SMALL');
        room = error.details.minimum as number;
        expect(room).toBeGreaterThan(max);
        context = await packed(given, wanted, room);
      }
      expect(measured(context)).toBe(context.token_estimate);
      expect(context.token_estimate).toBeLessThanOrEqual(room);
      expect(JSON.stringify(await packed(given, wanted, room))).toBe(JSON.stringify(context));
    }),
    { ...runs(150), interruptAfterTimeLimit: 15_000 },
  );
});

test('if every section is too large, each gets its share of the answer [contextload.budget.shares]', async () => {
  const long = 'An invoice is checked. '.repeat(2_000);
  const brief = long.slice(0, 1_000);
  const many = <T>(one: T): T[] => Array.from({ length: 100 }, () => one);
  const given: State = {
    ...{ workflowName: 'w', source: long, plan: { summary: brief, approach: long, risks: [], assumptions: [] } },
    ...{ name: 'now', description: long, taskPlan: null, context: null, files: [] },
    checkpoints: many({ summary: brief, detail: { note: brief }, files_changed: [] }),
    prior: many({ name: 'before', outcome: brief, status: 'completed', description: brief, plan: null, outcome_detail: null }),
    siblings: many({ name: 'beside', status: 'completed', brief_summary: brief }),
    dependencies: many({ task_name: 'before', outcome: brief, status: 'completed' }),
    unread: { checkpoints: 0, prior: 0 },
  };
  const shown = { workflow_plan: true, workflow_summary: true, prior_task_outcomes: true, sibling_status: true, dependency_outcomes: true };
  const context = await packed(given, { ...shown, prior_task_full: true, all_checkpoints: true, recent_checkpoints: 5 }, 20_000);
  const { workflow, current_task, prior_tasks, sibling_tasks, dependency_outcomes, token_estimate } = context;
  const shares = [workflow, current_task, prior_tasks, [sibling_tasks, dependency_outcomes]].map((part) => (100 * measured(part)) / token_estimate);
  // Ids and names are always included, so they are not part of the shares.
  for (const [at, share] of [15, 55, 20, 10].entries()) expect(Math.abs((shares[at] as number) - share), `${shares}`).toBeLessThan(3);
});

test('nothing is cut if everything fits; otherwise the answer lists everything that was cut [contextload.budget.names-cuts]', async () => {
  await fc.assert(
    fc.asyncProperty(state, include, fc.integer({ min: 400, max: 30_000 }), async (stated, wanted, max) => {
      const given = { ...stated, unread: { checkpoints: 0, prior: 0 } };
      const whole = await packed(given, wanted, 1_000_000);
      expect(whole.omitted).toEqual([]);
      let context: LoadedContext;
      try {
        context = await packed(given, wanted, max);
      } catch (error) {
        expect(error).toMatchObject({ code: 'BUDGET_TOO_SMALL' });
        return;
      }
      if (whole.token_estimate <= max) expect(context).toEqual(whole);
      const counted = (section: string, reason: string) =>
        context.omitted.find((each) => each.section === section && each.reason.startsWith(reason))?.count ?? 0;
      expect(context.current_task.checkpoints.length + counted('checkpoints', 'left out')).toBe(whole.current_task.checkpoints.length);
      expect(context.prior_tasks.length + counted('prior_tasks', 'left out')).toBe(whole.prior_tasks.length);
      expect((context.sibling_tasks ?? []).length + counted('sibling_tasks', 'left out')).toBe((whole.sibling_tasks ?? []).length);
      const differs = (pick: (of: LoadedContext) => unknown) => JSON.stringify(pick(context)) !== JSON.stringify(pick(whole));
      const named = (section: string) => context.omitted.some((each) => each.section === section);
      expect(named('description')).toBe(differs((of) => of.current_task.description));
      expect(named('source')).toBe(differs((of) => of.workflow.source_summary));
      expect(named('plan')).toBe(differs((of) => of.workflow.plan_summary));
      expect(named('task_plan')).toBe(differs((of) => of.current_task.plan));
      expect(named('task_context')).toBe(differs((of) => of.current_task.context));
    }),
    { ...runs(150), interruptAfterTimeLimit: 15_000 },
  );
});

import type { Output } from '../../../kernel/contract.ts';
import { TimeSlice } from '../../../kernel/time-slice.ts';
import type { Db } from '../../../storage/engine.ts';
import { planOf, readRecord, readStrings, requireWorkflow, shownStatus, type WorkflowRow, type WorkflowTaskRow } from '../workflows/index.ts';
import { type Include, loadContext } from './contract.ts';
import { oneLine } from './cut.ts';
import type { Scale } from './entries.ts';
import { gather } from './gather.ts';
import { pack, type Sections } from './pack.ts';
import { jsonPart, listPart, type Omission, textPart } from './parts.ts';
import { loadTokenizer, type Tokenizer } from './tokens.ts';

export type LoadedContext = Output<typeof loadContext>;

/**
 * The share of the room that each section gets, in percent. Room that a section does not need goes to sections that were cut. Among these, the section
 * with the lowest turn gets it first.
 */
export const SHARES = {
  workflow: { weight: 15, turn: 2 },
  current: { weight: 55, turn: 1 },
  prior: { weight: 20, turn: 4 },
  related: { weight: 10, turn: 3 },
} as const satisfies Sections<string>;

/** This many entries of each list are included in full before further entries are included. */
const WHOLE = { checkpoints: 5, prior: 10, related: 5 };

interface ContextRequest {
  readonly workflow: WorkflowRow;
  readonly task: WorkflowTaskRow;
  readonly include: Include;
  readonly max: number;
}

export async function contextOf(db: Db, asked: ContextRequest, tokens: Tokenizer): Promise<LoadedContext> {
  const scale: Scale = { tokens, max: asked.max };
  const slice = new TimeSlice();
  return await packContext(asked, await gather(db, asked.task, asked.include, scale, slice), scale, slice);
}

export async function packContext(
  { workflow, task, include, max }: ContextRequest,
  found: Awaited<ReturnType<typeof gather>>,
  { tokens }: Scale,
  slice: TimeSlice,
): Promise<LoadedContext> {
  const reverse = <T>(values: T[]): T[] => values.reverse();
  const text = (section: string, whole: string) => textPart(section, whole, tokens, max);
  const parts = {
    source: { section: 'workflow', weight: 60, turn: 2, part: text('source', include.workflow_summary ? oneLine(workflow.source_content) : '') },
    plan: { section: 'workflow', weight: 40, turn: 1, part: text('plan', include.workflow_plan ? planText(workflow) : '') },
    description: { section: 'current', weight: 15, turn: 3, part: text('description', task.description) },
    taskPlan: { section: 'current', weight: 25, turn: 2, part: jsonPart('task_plan', readRecord(task.plan), null, tokens, max) },
    taskContext: { section: 'current', weight: 10, turn: 4, part: jsonPart('task_context', readRecord(task.context) ?? {}, {}, tokens, max) },
    checkpoints: {
      section: 'current',
      weight: 45,
      turn: 1,
      part: listPart({ section: 'checkpoints', detail: 'checkpoint_detail', ...found.checkpoints, max, wholeFirst: WHOLE.checkpoints, arrange: reverse }),
    },
    files: { section: 'current', weight: 5, turn: 5, part: jsonPart('files_likely_affected', readStrings(task.files), [], tokens, max) },
    prior: {
      section: 'prior',
      weight: 1,
      turn: 1,
      part: listPart({ section: 'prior_tasks', detail: 'prior_outcomes', ...found.prior, max, wholeFirst: WHOLE.prior, arrange: reverse }),
    },
    siblings: {
      section: 'related',
      weight: 1,
      turn: 2,
      part: listPart({ section: 'sibling_tasks', detail: 'sibling_summaries', ...found.siblings, max, wholeFirst: WHOLE.related }),
    },
    dependencies: {
      section: 'related',
      weight: 1,
      turn: 1,
      part: listPart({
        section: 'dependency_outcomes',
        detail: 'dependency_outcomes',
        ...found.dependencies,
        max,
        wholeFirst: WHOLE.related,
        arrange: reverse,
      }),
    },
  } as const;
  const { result, size } = await pack({
    sections: SHARES,
    parts,
    max,
    slice,
    assemble: (filled, omitted: Omission[]): LoadedContext => ({
      workflow: {
        id: workflow.id,
        name: workflow.name,
        source_type: workflow.source_type,
        ...(include.workflow_summary ? { source_summary: filled.source } : {}),
        ...(include.workflow_plan ? { plan_summary: filled.plan } : {}),
        status: workflow.status,
        max_parallel_tasks: workflow.max_parallel_tasks,
      },
      current_task: {
        id: task.id,
        name: task.name,
        description: filled.description,
        plan: filled.taskPlan,
        context: filled.taskContext,
        checkpoints: filled.checkpoints,
        status: shownStatus(task),
        assigned_agent_id: task.assigned_agent_id,
        fence: task.fence,
        workspace_id: task.worktree_id,
        files_likely_affected: filled.files,
      },
      prior_tasks: filled.prior,
      ...(include.sibling_status ? { sibling_tasks: filled.siblings } : {}),
      ...(include.dependency_outcomes ? { dependency_outcomes: filled.dependencies } : {}),
      omitted,
      token_estimate: 0,
    }),
    measure: (context) => sizeWithItself(context, tokens),
  });
  return { ...result, token_estimate: size };
}

/**
 * Returns the number of tokens in the answer. The answer contains this number itself. The tokenizer separates digits from the text around them, so a
 * different number changes only its own tokens.
 */
function sizeWithItself(context: LoadedContext, tokens: Tokenizer): number {
  const others = tokens.count(JSON.stringify(context)) - tokens.count('0');
  let size = others + 1;
  while (others + tokens.count(String(size)) > size) size = others + tokens.count(String(size));
  return size;
}

/** Returns the plan as text. The most informative parts come first, because a text that is too long is cut at the end. */
function planText(workflow: WorkflowRow): string {
  const plan = planOf(workflow);
  if (!plan) return '';
  const list = (title: string, items: readonly string[]) => (items.length === 0 ? '' : `${title}:\n${items.map((item) => `- ${item}`).join('\n')}`);
  const approach = plan.approach === '' ? '' : `Approach: ${plan.approach}`;
  return [plan.summary, approach, list('Risks', plan.risks), list('Assumptions', plan.assumptions)].filter((part) => part !== '').join('\n\n');
}

interface Preview {
  readonly pack: LoadedContext;
  /** The number of tokens in each section of the pack, and the share of the budget that the section got. */
  readonly sections: { name: keyof typeof SHARES; share: number; tokens: number }[];
}

/** Returns the pack that an agent would get for the task now, and the size of each section. */
export async function previewOf(db: Db, task: WorkflowTaskRow, max: number): Promise<Preview> {
  const workflow = await requireWorkflow(db, task.workspace_id, task.workflow_id);
  const { include } = loadContext.input.parse({ task_id: task.id });
  const tokens = await loadTokenizer();
  const pack = await contextOf(db, { workflow, task, include, max }, tokens);
  const parts = {
    workflow: pack.workflow,
    current: pack.current_task,
    prior: pack.prior_tasks,
    related: { sibling_tasks: pack.sibling_tasks, dependency_outcomes: pack.dependency_outcomes },
  } satisfies Record<keyof typeof SHARES, unknown>;
  const names = Object.keys(SHARES) as (keyof typeof SHARES)[];
  return { pack, sections: names.map((name) => ({ name, share: SHARES[name].weight, tokens: tokens.count(JSON.stringify(parts[name])) })) };
}

import type { Db } from '../../../storage/engine.ts';
import { requireWorkflow, type WorkflowTaskRow } from '../workflows/index.ts';
import { contextOf, type LoadedContext, SHARES } from './context.ts';
import { loadContext } from './contract.ts';
import { loadTokenizer } from './tokens.ts';

export interface Preview {
  readonly pack: LoadedContext;
  /** How much of the pack each section is, beside the share that it was given. */
  readonly sections: { name: keyof typeof SHARES; share: number; tokens: number }[];
}

/** What an agent would get for the task now, and how it was shared out. */
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

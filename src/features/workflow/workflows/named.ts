import { endingIn, onlyMatch } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorkflowRow, WorkflowTaskRow } from '../../../storage/schema-rows.ts';
import { findTask, findWorkflow } from './store.ts';

/** The workflow with this id, or with the only id that ends so: people type the end of one. */
export async function workflowNamed(db: Db, workspace: string, tail: string): Promise<WorkflowRow> {
  const exact = await findWorkflow(db, workspace, tail);
  return exact ?? only(await endingIn(db.selectFrom('workflows').selectAll().where('workspace_id', '=', workspace), tail), tail, 'workflow');
}

/** The same for a task. By its whole id first: ends are looked for in all tasks of the workspace. */
export async function taskNamed(db: Db, workspace: string, tail: string): Promise<WorkflowTaskRow> {
  const exact = await findTask(db, workspace, tail);
  const standing = db.selectFrom('workflow_tasks').selectAll().where('workspace_id', '=', workspace).where('status', '!=', 'removed');
  return exact ?? only(await endingIn(standing, tail), tail, 'task');
}

function only<R extends { id: string }>(found: readonly R[], tail: string, noun: string): R {
  const id = onlyMatch(
    found.map((row) => row.id),
    tail,
    noun,
  );
  return found.find((row) => row.id === id) as R;
}

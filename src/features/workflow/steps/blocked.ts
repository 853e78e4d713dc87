import { Refusal } from '../../../kernel/errors.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorkflowTaskRow } from '../workflows/index.ts';
import { openDependencies } from './store.ts';

const MOST_NAMED = 10;

/** What the task waits for, said so that an agent can go and do that first. */
export async function taskBlocked(db: Db, task: WorkflowTaskRow): Promise<Refusal> {
  const names = await openDependencies(db, task.workspace_id, task.id, MOST_NAMED);
  const more = task.open_dependencies - names.length;
  const named = `${names.map((name) => JSON.stringify(name)).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return new Refusal('TASK_BLOCKED', `Task ${JSON.stringify(task.name)} waits for ${named}.`, 'Work on those first: workflow_next_tasks lists what is free.', {
    task_id: task.id,
    blocked_by: names,
    open_dependencies: task.open_dependencies,
  });
}

export const awaitingAnswer = (task: WorkflowTaskRow): Refusal =>
  new Refusal(
    'AWAITING_ANSWER',
    `Task ${JSON.stringify(task.name)} waits for a person to answer the question ${task.question_id}.`,
    'Work on something else until it is answered: the answer puts the task back by itself.',
    { task_id: task.id, question_id: task.question_id },
  );

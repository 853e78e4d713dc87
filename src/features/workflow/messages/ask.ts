import type { WriteContext } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { invalidInput } from '../../../kernel/input.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { pauseForQuestion } from '../steps/index.ts';
import { isOneOf, requireHold, requireNotEnded, requireWorkflow, SYSTEM_MACHINE, type WorkflowTaskRow } from '../workflows/index.ts';
import { HUMAN } from './addresses.ts';

/** A question to a person. The task that it is about waits for the answer. */
export async function ask(tx: Tx, ctx: WriteContext, message: MessageRow, task: WorkflowTaskRow | null): Promise<void> {
  if (message.message_type !== 'query') throw invalidInput([{ field: 'message_type', message: `expected query: "${HUMAN}" is asked, not told` }]);
  if (!task) return;
  requireNotEnded(await requireWorkflow(tx.db, tx.workspace, task.workflow_id));
  await requireHold(tx, ctx, task, { agent_id: message.sender_id });
  if (task.question_id !== null) {
    throw new Refusal(
      'QUESTION_OPEN',
      `Task ${JSON.stringify(task.name)} waits for the answer to question ${task.question_id} already.`,
      'Wait for that answer: it comes as a message. Ask without task_id what the task need not wait for.',
      { field: 'task_id', task_id: task.id, question_id: task.question_id },
    );
  }
  const { from } = SYSTEM_MACHINE.ask;
  if (!isOneOf(from, task.status)) {
    throw new Refusal(
      'INVALID_STATE',
      `Task ${JSON.stringify(task.name)} is ${task.status}: only one that is ${from.join(' or ')} can wait for an answer.`,
      'Ask without task_id, or take the task up first.',
      { field: 'task_id', task_id: task.id, status: task.status },
    );
  }
  await pauseForQuestion(tx, task, message.id, ctx.principal.actor);
}

import type { WriteContext } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { PRIVATE } from '../../core/identity/index.ts';
import { type AgentRow, findAgent, requireOnline, requireOwnAgent, touchAgent } from '../agents/index.ts';
import { requireTask, requireWorkflow, type WorkflowTaskRow } from '../workflows/index.ts';
import { findMessage } from './store.ts';
import { type MessageBody, messageNotFound } from './views.ts';

const MINUTE = 60_000;

export interface Words {
  readonly message_type: MessageRow['message_type'];
  readonly subject?: string | undefined;
  readonly body: MessageBody;
  readonly priority?: MessageRow['priority'] | undefined;
  readonly expires_in_minutes?: number | undefined;
}

interface Envelope {
  readonly threadId: string;
  readonly replyToId?: string | null;
  readonly senderId: string;
  readonly recipientId: string;
  readonly workflowId: string | null;
  readonly taskId?: string | null;
  readonly actor: string;
}

/** A message that was sent just now and that nobody has seen. */
export const newMessage = (
  tx: Tx,
  words: Words,
  { threadId, replyToId = null, senderId, recipientId, workflowId, taskId = null, actor }: Envelope,
): MessageRow => ({
  workspace_id: tx.workspace,
  id: newId('msg', tx.now),
  thread_id: threadId,
  reply_to_id: replyToId,
  sender_id: senderId,
  recipient_id: recipientId,
  message_type: words.message_type,
  subject: words.subject ?? null,
  body: JSON.stringify(words.body),
  priority: words.priority ?? 'normal',
  status: 'unread',
  workflow_id: workflowId,
  task_id: taskId,
  actor,
  sent_at: tx.now,
  delivered_at: null,
  read_at: null,
  archived_at: null,
  answered_at: null,
  expires_at: words.expires_in_minutes === undefined ? null : tx.now + words.expires_in_minutes * MINUTE,
});

/** The caller's own agent, alive; whoever writes is heard of. */
export async function requireSender(tx: Tx, ctx: WriteContext, id: string): Promise<AgentRow> {
  if (!(await findAgent(tx.db, tx.workspace, id))) {
    throw new Refusal('SENDER_NOT_FOUND', `sender_id: there is no agent ${JSON.stringify(id)} in this workspace.`, 'agent_register makes one for you.', {
      field: 'sender_id',
    });
  }
  const sender = await requireOwnAgent(tx.db, ctx.principal, id, 'sender_id');
  requireOnline(sender, tx.now, 'sender_id');
  await touchAgent(tx, sender);
  return sender;
}

export async function requireRecipient(tx: Tx, id: string): Promise<AgentRow> {
  const recipient = await findAgent(tx.db, tx.workspace, id);
  if (recipient) return recipient;
  throw new Refusal('RECIPIENT_NOT_FOUND', `recipient_id: there is no agent ${JSON.stringify(id)} in this workspace.`, 'agent_list names those there are.', {
    field: 'recipient_id',
  });
}

/** The work that a message is about. A task names its workflow by itself. */
export async function workOf(
  tx: Tx,
  workflowId: string | undefined,
  taskId: string | undefined,
): Promise<{ workflowId: string | null; task: WorkflowTaskRow | null }> {
  const workflow = workflowId === undefined ? null : await requireWorkflow(tx.db, tx.workspace, workflowId, 'workflow_id');
  const task = taskId === undefined ? null : await requireTask(tx.db, tx.workspace, taskId, 'task_id');
  if (workflow && task && task.workflow_id !== workflow.id) {
    throw new Refusal(
      'WORKFLOW_MISMATCH',
      `Task ${task.id} belongs to workflow ${task.workflow_id}, not to ${workflow.id}.`,
      'Leave workflow_id out: the task names its workflow.',
      { field: 'workflow_id', workflow_id: workflow.id, task_id: task.id },
    );
  }
  return { workflowId: workflow?.id ?? task?.workflow_id ?? null, task };
}

/** The message that is answered: only who has it can answer it. */
export async function answeredBy(tx: Tx, senderId: string, replyToId: string | undefined): Promise<MessageRow | undefined> {
  if (replyToId === undefined) return undefined;
  const answered = await findMessage(tx.db, tx.workspace, replyToId);
  if (!answered || (answered.sender_id !== senderId && answered.recipient_id !== senderId)) throw messageNotFound(replyToId, 'reply_to_id');
  return answered;
}

/** A private developer's agent has no id for others: they answer it by the message that it sent. */
export const recipientOf = (recipientId: string, senderId: string, answered: MessageRow | undefined): string =>
  recipientId === PRIVATE && answered && answered.sender_id !== senderId ? answered.sender_id : recipientId;

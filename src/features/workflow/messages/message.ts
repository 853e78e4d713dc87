import { z } from 'zod';
import { Refusal } from '../../../kernel/reply.ts';
import { newId, readJson, view } from '../../../storage/rows.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type MessageView, messageView } from './contract.ts';

export type MessageBody = string | Record<string, unknown>;
const bodySchema = z.union([z.string(), z.record(z.string(), z.unknown())]);

const MINUTE = 60_000;

export interface MessageWords {
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

/** Creates a message that is sent now and that nobody has seen yet. */
export const newMessage = (
  tx: Tx,
  words: MessageWords,
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

const readBody = ({ body }: Pick<MessageRow, 'body'>): MessageBody => readJson(bodySchema, body);

/** Returns the body as text for people and for checkpoints. */
export function bodyText(row: Pick<MessageRow, 'body'>): string {
  const body = readBody(row);
  return typeof body === 'string' ? body : JSON.stringify(body, null, 2);
}

export const isExpired = ({ expires_at }: Pick<MessageRow, 'expires_at'>, now: number): boolean => expires_at !== null && expires_at <= now;

const receiptOf = ({ delivered_at, read_at }: MessageRow): MessageView['receipt'] => (read_at !== null ? 'read' : delivered_at !== null ? 'delivered' : 'sent');

export const viewMessage = (row: MessageRow): MessageView => view(messageView, row, { body: readBody(row), receipt: receiptOf(row) });

/** The refusal does not reveal whether the message is missing or belongs to other people. */
export const messageNotFound = (id: string, field: string): Refusal =>
  new Refusal(
    'MESSAGE_NOT_FOUND',
    `Message ${JSON.stringify(id)} does not exist, or none of your agents sent or received it.`,
    'Call message_list with your agent_id to see the ids of your messages.',
    { field, id },
  );

export const messageExpired = (id: string, expiresAt: number): Refusal =>
  new Refusal(
    'MESSAGE_EXPIRED',
    `Message ${JSON.stringify(id)} has expired.`,
    `If you still need it, ask its sender for it: call message_send with your sender_id, recipient_id "@private", reply_to_id ${JSON.stringify(id)}, message_type "query" and a body.`,
    { field: 'id', id, expires_at: expiresAt },
  );

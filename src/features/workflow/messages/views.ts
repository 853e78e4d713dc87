import { z } from 'zod';
import { Refusal } from '../../../kernel/errors.ts';
import { readJson } from '../../../storage/columns.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { MessageView } from './contract.ts';

export type MessageBody = string | Record<string, unknown>;
const bodySchema = z.union([z.string(), z.record(z.string(), z.unknown())]);

export const readBody = ({ body }: Pick<MessageRow, 'body'>): MessageBody => readJson(bodySchema, body);

/** For people, and for checkpoints. */
export function bodyText(row: Pick<MessageRow, 'body'>): string {
  const body = readBody(row);
  return typeof body === 'string' ? body : JSON.stringify(body, null, 2);
}

export const isExpired = ({ expires_at }: Pick<MessageRow, 'expires_at'>, now: number): boolean => expires_at !== null && expires_at <= now;

const receiptOf = ({ delivered_at, read_at }: MessageRow): MessageView['receipt'] => (read_at !== null ? 'read' : delivered_at !== null ? 'delivered' : 'sent');

export const viewMessage = (row: MessageRow): MessageView => ({
  id: row.id,
  thread_id: row.thread_id,
  reply_to_id: row.reply_to_id,
  sender_id: row.sender_id,
  recipient_id: row.recipient_id,
  message_type: row.message_type,
  subject: row.subject,
  body: readBody(row),
  priority: row.priority,
  status: row.status,
  workflow_id: row.workflow_id,
  task_id: row.task_id,
  sent_at: row.sent_at,
  delivered_at: row.delivered_at,
  read_at: row.read_at,
  expires_at: row.expires_at,
  receipt: receiptOf(row),
});

/** In the same words whether there is none or it is other people's mail. */
export const messageNotFound = (id: string, field: string): Refusal =>
  new Refusal('MESSAGE_NOT_FOUND', `${field}: your agents have no message ${JSON.stringify(id)}.`, 'message_list names those there are.', { field, id });

export const messageExpired = (id: string, expiresAt: number): Refusal =>
  new Refusal('MESSAGE_EXPIRED', `Message ${JSON.stringify(id)} has expired.`, 'Ask its sender whether it still matters.', {
    field: 'id',
    id,
    expires_at: expiresAt,
  });

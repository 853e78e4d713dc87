import type { EpochMs, JsonText } from '../../../storage/columns.ts';

export const MESSAGE_TYPES = ['task_assignment', 'status_update', 'query', 'response', 'notification'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];
export const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;
export type Priority = (typeof PRIORITIES)[number];
export const MESSAGE_STATUSES = ['unread', 'read', 'archived'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

export interface MessageRow {
  workspace_id: string;
  id: string;
  thread_id: string;
  reply_to_id: string | null;
  /** An agent, or `human`. */
  sender_id: string;
  recipient_id: string;
  message_type: MessageType;
  subject: string | null;
  /** A string or an object. */
  body: JsonText;
  priority: Priority;
  status: MessageStatus;
  workflow_id: string | null;
  task_id: string | null;
  actor: string;
  sent_at: EpochMs;
  delivered_at: EpochMs | null;
  read_at: EpochMs | null;
  archived_at: EpochMs | null;
  /** Set on a question to a person, once it was answered or no longer matters. */
  answered_at: EpochMs | null;
  expires_at: EpochMs | null;
}

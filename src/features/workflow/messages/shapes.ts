import { z } from 'zod';

export const MESSAGE_TYPES = ['task_assignment', 'status_update', 'query', 'response', 'notification'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];
export const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;
export type Priority = (typeof PRIORITIES)[number];
export const MESSAGE_STATUSES = ['unread', 'read', 'archived'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

export const RECEIPTS = ['sent', 'delivered', 'read'] as const;

export const messageView = z.strictObject({
  id: z.string(),
  thread_id: z.string(),
  reply_to_id: z.string().nullable(),
  sender_id: z.string().describe('An agent, "human" (a person answered you) or "server".'),
  recipient_id: z.string(),
  message_type: z.enum(MESSAGE_TYPES),
  subject: z.string().nullable(),
  body: z.union([z.string(), z.record(z.string(), z.unknown())]),
  priority: z.enum(PRIORITIES),
  status: z.enum(MESSAGE_STATUSES),
  workflow_id: z.string().nullable(),
  task_id: z.string().nullable(),
  sent_at: z.int(),
  delivered_at: z.int().nullable(),
  read_at: z.int().nullable(),
  expires_at: z.int().nullable(),
  receipt: z.enum(RECEIPTS).describe('How far it has come with the recipient.'),
});
export type MessageView = z.output<typeof messageView>;

/** A question to a person, as people see it. */
export const questionView = z.strictObject({
  question_id: z.string(),
  agent_id: z.string(),
  agent_name: z.string().nullable(),
  workflow_id: z.string().nullable(),
  workflow_name: z.string().nullable(),
  task_id: z.string().nullable(),
  task_name: z.string().nullable(),
  subject: z.string().nullable(),
  question: z.string(),
  priority: z.enum(PRIORITIES),
  asked_at: z.int(),
  expires_at: z.int().nullable(),
});
export type QuestionView = z.output<typeof questionView>;

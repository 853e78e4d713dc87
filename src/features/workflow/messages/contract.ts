import { z } from 'zod';
import { contract, READ } from '../../../kernel/contract.ts';
import { details, id, text, title } from '../../../kernel/fields.ts';
import { ROLES, RUNTIMES } from '../agents/contract.ts';
import { HUMAN, isReserved } from './addresses.ts';
import { MESSAGE_TYPES, messageView, PRIORITIES, questionView } from './shapes.ts';

export { questionView } from './shapes.ts';

const MAX_TEXT = 20_000;
const MOST_MINUTES = 43_200;
const MOST_LISTED = 200;
const MOST_MARKED = 500;

const base = { toolset: 'workflow' } as const;

const senderId = id.refine((value) => !isReserved(value), { error: 'is reserved: send as an agent of your own' }).describe('Your agent, from agent_register.');
const ownAgentId = id.describe('Your agent, from agent_register.');
const body = z
  .union([z.string().min(1).max(MAX_TEXT), details], { error: 'expected text of 1 to 20,000 characters, or an object of at most 64 KiB of JSON' })
  .describe('Text, or an object of your own making.');
const subject = title.optional();
const priority = z.enum(PRIORITIES).optional().describe('normal where it is not said.');
const expiresInMinutes = z
  .int()
  .min(1)
  .max(MOST_MINUTES)
  .optional()
  .describe('After so long it is of no use, and no longer shown to its recipient, read or not.');

export const sendMessage = contract({
  ...base,
  name: 'message_send',
  title: 'Send a message',
  description:
    'Sends a message to another agent, who learns of it with its next agent_heartbeat; it waits for one that is offline. Sent again, it arrives again. ' +
    `To ask a person, send a query to "${HUMAN}": with a task_id that task is paused until they answer, and the answer comes to you as a message.`,
  input: z.strictObject({
    sender_id: senderId,
    recipient_id: id.describe(`An agent of this workspace, or "${HUMAN}": the people of the team. "@private" with reply_to_id: the sender of that message.`),
    message_type: z.enum(MESSAGE_TYPES),
    subject,
    body,
    priority,
    workflow_id: id.optional(),
    task_id: id.optional(),
    reply_to_id: id.optional().describe('The message that this one answers: it then belongs to the same thread.'),
    expires_in_minutes: expiresInMinutes,
  }),
  output: z.strictObject({ id: z.string(), thread_id: z.string(), expires_at: z.int().nullable() }),
});

export const broadcastMessage = contract({
  ...base,
  name: 'message_broadcast',
  title: 'Broadcast a message',
  description:
    'Sends one message to all other agents that are online or busy, or to those of them that the filter names. All get it in one thread. Sent again, it arrives again.',
  input: z.strictObject({
    sender_id: senderId,
    recipient_filter: z
      .strictObject({
        role: z.enum(ROLES).optional(),
        status: z.enum(['online', 'busy']).optional(),
        runtime: z.enum(RUNTIMES).optional().describe("Other people's private agents count as custom."),
      })
      .optional(),
    message_type: z.enum(['notification', 'status_update']),
    subject,
    body,
    priority,
    workflow_id: id.optional(),
    expires_in_minutes: expiresInMinutes,
  }),
  output: z.strictObject({
    sent_count: z.int(),
    message_ids: z.array(z.string()),
    thread_id: z.string().nullable().describe('Null where nobody got it.'),
    expires_at: z.int().nullable(),
  }),
});

export const listMessages = contract({
  ...base,
  name: 'message_list',
  title: 'List messages',
  description:
    'The mail of your agent, newest first: unread where status is not given. With thread_id, all that it sent or received of that thread. ' +
    'Mark what you have dealt with by message_mark_read.',
  input: z.strictObject({
    agent_id: ownAgentId,
    status: z.enum(['unread', 'read', 'all']).optional().describe('all: unread and read, not archived. Default unread; with thread_id whatever it is.'),
    message_type: z.array(z.enum(MESSAGE_TYPES)).min(1).max(MESSAGE_TYPES.length).optional(),
    priority: z.array(z.enum(PRIORITIES)).min(1).max(PRIORITIES.length).optional(),
    workflow_id: id.optional(),
    thread_id: id.optional(),
    limit: z.int().min(1).max(MOST_LISTED).default(20),
    since: z.int().min(0).optional().describe('Sent at this time or later, in epoch milliseconds.'),
  }),
  output: z.strictObject({
    messages: z.array(messageView),
    messages_more: z.int().describe('How many further ones of this list the answer had no room for.'),
    unread_count: z.int().describe('All that wait unread for the agent.'),
  }),
});

export const getMessage = contract({
  ...base,
  name: 'message_get',
  title: 'Get a message',
  description: 'One message that an agent of yours sent or received. One that it received is marked as read, unless mark_read is false.',
  input: z.strictObject({ id, mark_read: z.boolean().default(true) }),
  output: messageView,
  annotations: { idempotentHint: true },
});

const messageIds = z.array(id).min(1).max(MOST_MARKED);

export const markRead = contract({
  ...base,
  name: 'message_mark_read',
  title: 'Mark messages as read',
  description: 'Marks messages that your agents received as read, so that they no longer count as unread.',
  input: z.strictObject({ message_ids: messageIds }),
  output: z.strictObject({ success: z.boolean(), marked: z.int().describe('How many were unread until now.') }),
  annotations: { idempotentHint: true },
});

export const archiveMessages = contract({
  ...base,
  name: 'message_archive',
  title: 'Archive messages',
  description: 'Puts messages that your agents received away: they are no longer listed, but stay in their thread.',
  input: z.strictObject({ message_ids: messageIds }),
  output: z.strictObject({ success: z.boolean(), archived: z.int().describe('How many were not archived until now.') }),
  annotations: { idempotentHint: true },
});

export const countUnread = contract({
  ...base,
  name: 'message_count_unread',
  title: 'Count unread messages',
  description: 'How many messages wait unread for your agent, by priority. agent_heartbeat tells this too.',
  input: z.strictObject({ agent_id: ownAgentId, priority: z.array(z.enum(PRIORITIES)).min(1).max(PRIORITIES.length).optional() }),
  output: z.strictObject({ count: z.int(), by_priority: z.strictObject({ low: z.int(), normal: z.int(), high: z.int(), urgent: z.int() }) }),
  annotations: READ,
});

export const listQuestions = contract({
  name: 'questions.list',
  toolset: 'admin',
  access: 'member',
  route: 'GET /api/questions',
  title: 'Questions to people',
  description: 'What agents ask the people of the workspace: open questions, the oldest first, or the last ones that were answered.',
  input: z.strictObject({ answered: z.boolean().default(false) }),
  output: z.strictObject({
    items: z.array(z.strictObject({ ...questionView.shape, answer: z.string().nullable(), answered_at: z.int().nullable() })),
    cut: z.boolean().describe('There are more than are listed.'),
  }),
  annotations: READ,
});

export const answerQuestion = contract({
  name: 'questions.answer',
  toolset: 'admin',
  access: 'member',
  route: 'POST /api/questions/answer',
  title: 'Answer a question',
  description: 'Answers an agent, and lets the task go on that waits for it.',
  input: z.strictObject({ question_id: id.describe('The question, or the end of its id.'), answer: text(MAX_TEXT) }),
  output: z.strictObject({
    question_id: z.string(),
    answer_id: z.string().describe('The message that carries the answer.'),
    agent_id: z.string(),
    task_id: z.string().nullable(),
    task_status: z.string().nullable().describe('What the task is now; null where no task waited for the answer.'),
  }),
});

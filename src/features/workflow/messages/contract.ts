import { z } from 'zod';
import { contract, details, id, MEMBER_READ, READ, text, title } from '../../../kernel/contract.ts';
import { ROLES, RUNTIMES } from '../agents/contract.ts';
import { KINDS, STATES, STATUSES, STEP_STATES, STEPS } from './delivery.ts';

/** Stands for the people of the workspace, as a recipient or sender of messages. Only people can send under this name. */
export const HUMAN = 'human';
/** The sender of messages from the server itself. */
export const SERVER = 'server';

export const isReserved = (id: string): boolean => id === HUMAN || id === SERVER;

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
  receipt: z.enum(RECEIPTS).describe('Delivery state at the recipient.'),
});
export type MessageView = z.output<typeof messageView>;

/** A question from an agent to people, in the form that people see. */
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

const MAX_TEXT = 20_000;
const MAX_MINUTES = 43_200;
const MAX_LISTED = 200;
const MAX_MARKED = 500;

const base = { toolset: 'workflow' } as const;

const senderId = id
  .refine((value) => !isReserved(value), { error: 'is reserved: send as one of your own agents' })
  .describe('Your agent, from agent_register.');
const ownAgentId = id.describe('Your agent, from agent_register.');
const body = z
  .union([z.string().min(1).max(MAX_TEXT), details], { error: 'expected text of 1 to 20,000 characters, or an object of at most 64 KiB of JSON' })
  .describe('Text, or any JSON object.');
const subject = title.optional();
const priority = z.enum(PRIORITIES).optional().describe('Default: normal.');
const expiresInMinutes = z.int().min(1).max(MAX_MINUTES).optional().describe('After this time the recipient no longer sees it, read or not.');

export const sendMessage = contract({
  ...base,
  name: 'message_send',
  title: 'Send a message',
  description:
    'Sends a message to another agent, which gets it with its next agent_heartbeat; an offline agent gets it later. Repeating the call sends it again. ' +
    `To ask a person, send a query to "${HUMAN}": with a task_id, that task is paused until they answer, and you get the answer as a message.`,
  input: z.strictObject({
    sender_id: senderId,
    recipient_id: id.describe(`An agent of this workspace, or "${HUMAN}": the people of the team. With reply_to_id, "@private" is the sender of that message.`),
    message_type: z.enum(MESSAGE_TYPES),
    subject,
    body,
    priority,
    workflow_id: id.optional(),
    task_id: id.optional(),
    reply_to_id: id.optional().describe('The message that you answer, in the same thread.'),
    expires_in_minutes: expiresInMinutes,
  }),
  output: z.strictObject({ id: z.string(), thread_id: z.string(), expires_at: z.int().nullable() }),
});

export const broadcastMessage = contract({
  ...base,
  name: 'message_broadcast',
  title: 'Broadcast a message',
  description: 'Sends one message to all other agents that are online or busy and match the filter, all in one thread. Repeating the call sends it again.',
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
    thread_id: z.string().nullable().describe('Null if nobody got it.'),
    expires_at: z.int().nullable(),
  }),
});

export const listMessages = contract({
  ...base,
  name: 'message_list',
  title: 'List messages',
  description:
    'Messages of your agent, newest first; unread ones unless status is given. With thread_id, everything it sent or received in that thread. ' +
    'Use message_mark_read for messages you have dealt with.',
  input: z.strictObject({
    agent_id: ownAgentId,
    status: z.enum(['unread', 'read', 'all']).optional().describe('all: unread and read, not archived. Default: unread; with thread_id, any.'),
    message_type: z.array(z.enum(MESSAGE_TYPES)).min(1).max(MESSAGE_TYPES.length).optional(),
    priority: z.array(z.enum(PRIORITIES)).min(1).max(PRIORITIES.length).optional(),
    workflow_id: id.optional(),
    thread_id: id.optional(),
    limit: z.int().min(1).max(MAX_LISTED).default(20),
    since: z.int().min(0).optional().describe('Sent at this time or later, in epoch milliseconds.'),
  }),
  output: z.strictObject({
    messages: z.array(messageView),
    messages_more: z.int().describe('Number of messages that did not fit.'),
    unread_count: z.int().describe('Number of unread messages of the agent.'),
  }),
});

export const getMessage = contract({
  ...base,
  name: 'message_get',
  title: 'Get a message',
  description: 'One message that your agent sent or received. A received one is marked as read unless mark_read is false.',
  input: z.strictObject({ id, mark_read: z.boolean().default(true) }),
  output: messageView,
  annotations: { idempotentHint: true },
});

const messageIds = z.array(id).min(1).max(MAX_MARKED);

export const markRead = contract({
  ...base,
  name: 'message_mark_read',
  title: 'Mark messages as read',
  description: 'Marks messages that your agents received as read.',
  input: z.strictObject({ message_ids: messageIds }),
  output: z.strictObject({ success: z.boolean(), marked: z.int().describe('Number that were unread.') }),
  annotations: { idempotentHint: true },
});

export const archiveMessages = contract({
  ...base,
  name: 'message_archive',
  title: 'Archive messages',
  description: 'Archives messages that your agents received: no longer listed, but kept in their thread.',
  input: z.strictObject({ message_ids: messageIds }),
  output: z.strictObject({ success: z.boolean(), archived: z.int().describe('Number newly archived.') }),
  annotations: { idempotentHint: true },
});

export const countUnread = contract({
  ...base,
  name: 'message_count_unread',
  title: 'Count unread messages',
  description: 'Number of unread messages of your agent, by priority. agent_heartbeat returns it too.',
  input: z.strictObject({ agent_id: ownAgentId, priority: z.array(z.enum(PRIORITIES)).min(1).max(PRIORITIES.length).optional() }),
  output: z.strictObject({ count: z.int(), by_priority: z.strictObject({ low: z.int(), normal: z.int(), high: z.int(), urgent: z.int() }) }),
  annotations: READ,
});

export const listQuestions = contract({
  ...MEMBER_READ,
  name: 'questions.list',
  route: 'GET /api/questions',
  title: 'Questions to people',
  description: 'Questions from agents to the people of the workspace: the open questions, oldest first, or the most recently answered ones.',
  input: z.strictObject({ answered: z.boolean().default(false) }),
  output: z.strictObject({
    items: z.array(z.strictObject({ ...questionView.shape, answer: z.string().nullable(), answered_at: z.int().nullable() })),
    cut: z.boolean().describe('True if more questions exist than are listed.'),
  }),
});

export const answerQuestion = contract({
  name: 'questions.answer',
  toolset: 'admin',
  access: 'member',
  route: 'POST /api/questions/answer',
  title: 'Answer a question',
  description: 'Answers a question from an agent, and resumes the task that waits for the answer.',
  input: z.strictObject({ question_id: id.describe('Id of the question, or the end of the id.'), answer: text(MAX_TEXT) }),
  output: z.strictObject({
    question_id: z.string(),
    answer_id: z.string().describe('Id of the message with the answer.'),
    agent_id: z.string(),
    task_id: z.string().nullable(),
    task_status: z.string().nullable().describe('New status of the task; null if no task waited for the answer.'),
  }),
});

/** Actions with which people read and answer the messages between agents and people. */
const forPeople = { toolset: 'admin', access: 'member' } as const;

/** A sender or recipient. `agent_id` is the id of the agent's page. It is null if there is no such page or if the agent belongs to a private developer. */
const party = z.strictObject({ name: z.string(), agent_id: z.string().nullable() });
export type Party = z.output<typeof party>;

const step = z.strictObject({ step: z.enum(STEPS), state: z.enum(STEP_STATES), at: z.int().nullable(), count: z.int().nullable() });

export const threadView = z.strictObject({
  id: z.string(),
  kind: z.enum(KINDS),
  type: z.string().nullable().describe('Type of a message.'),
  from: party,
  to: party,
  recipients: z.int(),
  subject: z.string().nullable().describe('Subject or first words. Null if only participants may read the text.'),
  priority: z.string().nullable(),
  repository: z.string().nullable(),
  status: z.enum(STATUSES),
  steps: z.array(step),
  sent_at: z.int(),
  due_at: z.int().nullable(),
  replies: z.int(),
  answerable: z.boolean().describe('Whether the caller can answer the thread.'),
  remindable: z.boolean().describe('Whether an answer is missing and a reminder can be sent.'),
});
export type ThreadView = z.output<typeof threadView>;

export const listThreads = contract({
  ...forPeople,
  name: 'messages.threads',
  title: 'Threads',
  description: 'Threads between agents and people. Lists undelivered and overdue threads first, then the other threads, newest first.',
  input: z.strictObject({
    kind: z.enum(KINDS).optional(),
    state: z.enum(STATES).optional(),
    mine: z.boolean().optional().describe("Only threads in which the caller or the caller's agents take part, and questions to people."),
    repo: z.string().min(1).max(300).optional().describe('Only threads about the repository with this name.'),
    before: z
      .string()
      .regex(/^[0-9A-Z]{26}$/)
      .optional()
      .describe('The value of `next` from the previous page.'),
    limit: z.int().min(1).max(100).default(50),
  }),
  output: z.strictObject({
    pressing: z.array(threadView).describe('Undelivered or overdue threads. Empty except on the first page.'),
    pressing_cut: z.boolean().describe('True if more such threads exist than are listed.'),
    items: z.array(threadView),
    next: z.string().nullable().describe('Send this as `before` to get the next page. Null on the last page. A page with few items may not be the last.'),
  }),
  annotations: READ,
});

const entry = z.strictObject({
  id: z.string(),
  what: z.enum(['message', 'answer', 'reminder']),
  from: party,
  to: party.nullable(),
  text: z.string().nullable().describe('Null if only participants may read the text.'),
  at: z.int(),
  delivered_at: z.int().nullable(),
  read_at: z.int().nullable(),
});
export type ThreadEntry = z.output<typeof entry>;

export const showThread = contract({
  ...forPeople,
  name: 'messages.thread',
  title: 'A thread',
  description: 'A whole thread, which is found by the id of any message in it, or by the id of an ask, handoff or announcement.',
  input: z.strictObject({ id }),
  output: z.strictObject({
    thread: threadView,
    entries: z.array(entry),
    entries_cut: z.int().describe('Number of earlier entries left out.'),
    recipients: z
      .array(z.strictObject({ to: party, delivered_at: z.int().nullable(), read_at: z.int().nullable() }))
      .describe('The first 200 recipients of a broadcast.'),
    about: z.strictObject({
      repo: z.string().nullable(),
      branch: z.string().nullable(),
      paths: z.array(z.string()),
      task_ids: z.array(z.string()),
      claim_ids: z.array(z.string()),
      context_id: z.string().nullable(),
      workflow_id: z.string().nullable(),
      workflow_task_id: z.string().nullable(),
    }),
    remindable_from: z.int().nullable().describe('Earliest time of the next reminder. Null if no reminder is possible.'),
  }),
  annotations: READ,
});

const threadId = id.describe('Id of the ask or question, or the end of the id.');

export const answerThread = contract({
  ...forPeople,
  name: 'messages.answer',
  title: 'Answer',
  description: 'Answers a question to people, or an ask that was sent to the caller. The operator can answer any ask on behalf of its addressee.',
  input: z.strictObject({ id: threadId, answer: text(20_000) }),
  output: z.strictObject({
    id: z.string(),
    kind: z.enum(['ask', 'question']),
    task_status: z.string().nullable().describe('New status of the task that waited for the answer; null if none did.'),
  }),
});

export const remindThread = contract({
  ...forPeople,
  name: 'messages.remind',
  title: 'Remind',
  description: 'Reminds the addressee of an unanswered ask, query or question, at most once in 15 minutes.',
  input: z.strictObject({ id: threadId }),
  output: z.strictObject({
    id: z.string(),
    kind: z.enum(['ask', 'question', 'message']),
    told: z.int().describe('Number of agents that get the reminder as a message.'),
    again_at: z.int().describe('Earliest time of the next reminder.'),
  }),
});

const role = z.enum(ROLES).optional().describe('Only agents with this role.');

export const listRecipients = contract({
  ...forPeople,
  name: 'messages.recipients',
  title: 'Recipients of a broadcast',
  description: 'Agents that are online or busy now and would get a broadcast.',
  input: z.strictObject({ role }),
  output: z.strictObject({ items: z.array(z.strictObject({ ...party.shape, runtime: z.string(), role: z.enum(ROLES) })), total: z.int() }),
  annotations: READ,
});

/** Maximum number of characters in a broadcast. The same limit applies to announcements. */
export const MAX_BROADCAST = 2_000;

export const broadcastByHand = contract({
  ...forPeople,
  name: 'messages.broadcast',
  title: 'Broadcast',
  description: 'Sends a message to every online or busy agent, or announces something to the team.',
  input: z.strictObject({
    message: text(MAX_BROADCAST),
    to: z.enum(['agents', 'team']).describe('agents: a message to each online or busy agent. team: an announcement, shown to every agent of the team.'),
    role,
    developer: z.string().min(1).max(100).optional().describe('For the operator: the developer in whose name to announce.'),
  }),
  output: z.strictObject({
    id: z.string().nullable().describe('Null if nobody got it.'),
    sent_count: z.int().nullable().describe('Null for an announcement.'),
  }),
});

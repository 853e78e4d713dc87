import { z } from 'zod';
import { contract, READ } from '../../../kernel/contract.ts';
import { id, text } from '../../../kernel/fields.ts';
import { ROLES } from '../agents/contract.ts';
import { KINDS, STATES, STATUSES, STEP_STATES, STEPS } from './standing.ts';

/** What people see of what agents and people say to each other, and what they do about it. */
const base = { toolset: 'admin', access: 'member' } as const;

/** `agent_id`: the page of the agent; null where it has none, or is a private developer's. */
const party = z.strictObject({ name: z.string(), agent_id: z.string().nullable() });
export type Party = z.output<typeof party>;

const step = z.strictObject({ step: z.enum(STEPS), state: z.enum(STEP_STATES), at: z.int().nullable(), count: z.int().nullable() });

export const threadView = z.strictObject({
  id: z.string(),
  kind: z.enum(KINDS),
  type: z.string().nullable().describe('Of a message: what kind of message.'),
  from: party,
  to: party,
  recipients: z.int(),
  subject: z.string().nullable().describe('Its subject, or how it begins. Null: its words are for those who take part.'),
  priority: z.string().nullable(),
  repository: z.string().nullable(),
  status: z.enum(STATUSES),
  steps: z.array(step),
  sent_at: z.int(),
  due_at: z.int().nullable(),
  replies: z.int(),
  answerable: z.boolean().describe('Waits for an answer of the caller.'),
  remindable: z.boolean().describe('Waits for an answer of somebody.'),
});
export type ThreadView = z.output<typeof threadView>;

export const listThreads = contract({
  ...base,
  name: 'messages.threads',
  title: 'Threads',
  description: 'What agents and people said to each other. First what has not been delivered and what is overdue, then the others, the newest first.',
  input: z.strictObject({
    kind: z.enum(KINDS).optional(),
    state: z.enum(STATES).optional(),
    mine: z.boolean().optional().describe("Only what the caller or the caller's agents take part in, and questions to people."),
    repo: z.string().min(1).max(300).optional().describe('What people call the repository that it is about.'),
    before: z
      .string()
      .regex(/^[0-9A-Z]{26}$/)
      .optional()
      .describe('`next` of the page before.'),
    limit: z.int().min(1).max(100).default(50),
  }),
  output: z.strictObject({
    pressing: z.array(threadView).describe('Not delivered, or overdue. With the first page only.'),
    pressing_cut: z.boolean().describe('There are more of them than are listed.'),
    items: z.array(threadView),
    next: z.string().nullable().describe('Where to read on; null at the end. A page may be short all the same.'),
  }),
  annotations: READ,
});

const entry = z.strictObject({
  id: z.string(),
  what: z.enum(['message', 'answer', 'reminder']),
  from: party,
  to: party.nullable(),
  text: z.string().nullable().describe('Null: its words are for those who take part.'),
  at: z.int(),
  delivered_at: z.int().nullable(),
  read_at: z.int().nullable(),
});
export type Entry = z.output<typeof entry>;

export const showThread = contract({
  ...base,
  name: 'messages.thread',
  title: 'A thread',
  description: 'Everything that was said in one thread, by the id of any message in it, of an ask, a handoff or an announcement.',
  input: z.strictObject({ id }),
  output: z.strictObject({
    thread: threadView,
    entries: z.array(entry),
    entries_cut: z.int().describe('How many earlier ones are left out.'),
    recipients: z
      .array(z.strictObject({ to: party, delivered_at: z.int().nullable(), read_at: z.int().nullable() }))
      .describe('Of a broadcast, the first 200.'),
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
    remindable_from: z.int().nullable().describe('From when on it may be reminded of (again). Null: there is nothing to remind of.'),
  }),
  annotations: READ,
});

const threadId = id.describe('The ask or question, or the end of its id.');

export const answerThread = contract({
  ...base,
  name: 'messages.answer',
  title: 'Answer',
  description: 'Answers a question to people, or an ask that was put to the caller. The operator answers an ask in the place of whom it was put to.',
  input: z.strictObject({ id: threadId, answer: text(20_000) }),
  output: z.strictObject({
    id: z.string(),
    kind: z.enum(['ask', 'question']),
    task_status: z.string().nullable().describe('What the task is now that waited for the answer; null where none did.'),
  }),
});

export const remindThread = contract({
  ...base,
  name: 'messages.remind',
  title: 'Remind',
  description: 'Reminds whom an ask, a query or a question was put to that it is unanswered; once in 15 minutes.',
  input: z.strictObject({ id: threadId }),
  output: z.strictObject({
    id: z.string(),
    kind: z.enum(['ask', 'question', 'message']),
    told: z.int().describe('How many agents get the reminder as a message.'),
    again_at: z.int().describe('From when on it may be reminded of again.'),
  }),
});

const role = z.enum(ROLES).optional().describe('Only agents of this role.');

export const listRecipients = contract({
  ...base,
  name: 'messages.recipients',
  title: 'Recipients of a broadcast',
  description: 'The agents that are at work now, and so would get a broadcast.',
  input: z.strictObject({ role }),
  output: z.strictObject({ items: z.array(z.strictObject({ ...party.shape, runtime: z.string(), role: z.enum(ROLES) })), total: z.int() }),
  annotations: READ,
});

/** Also what an announcement may have. */
export const MAX_BROADCAST = 2_000;

export const broadcastByHand = contract({
  ...base,
  name: 'messages.broadcast',
  title: 'Broadcast',
  description: 'Sends a message to every agent that is at work, or announces something to the team.',
  input: z.strictObject({
    message: text(MAX_BROADCAST),
    to: z.enum(['agents', 'team']).describe('agents: a message to each that is at work now. team: an announcement, which every agent of the team is shown.'),
    role,
    developer: z.string().min(1).max(100).optional().describe('For the operator: in whose name an announcement is made.'),
  }),
  output: z.strictObject({
    id: z.string().nullable().describe('Null where nobody got it.'),
    sent_count: z.int().nullable().describe('Null for an announcement.'),
  }),
});

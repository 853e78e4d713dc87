import { type Principal, record, type WriteContext } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { invalidInput, notFound, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Tx } from '../../../storage/write.ts';
import { callingDeveloper, developerFor } from '../../core/identity/index.ts';
import { type AskRow, announceToTeam, answerAsk } from '../../team/coordination/index.ts';
import { listAgents } from '../agents/index.ts';
import { answerThread, broadcastByHand, HUMAN, listRecipients, listThreads, remindThread, showThread } from './contract.ts';
import { remindableFrom } from './delivery.ts';
import { answerNamed } from './questions.ts';
import { broadcast, recipientsOf, sendDirectMessage } from './send.ts';
import { deliveryOf, type FoundThread, kindOf, unansweredNamed } from './thread-finding.ts';
import { readThread, readThreads, remindersOf } from './thread-reading.ts';
import { mayAnswer, mayBeReminded, partiesFor } from './thread-views.ts';

const RECIPIENTS_NAMED = 200;

/** Actions for people. Agent tokens cannot call them. */
export const threadTools: Implementation[] = [
  implement(listThreads, { read: async (filter, ctx) => ok(await readThreads(ctx, filter)) }),
  implement(showThread, { read: async ({ id }, ctx) => ok(await readThread(ctx, id)) }),
  implement(answerThread, { write: async (tx, input, ctx) => ok(await answerByHand(tx, ctx, input), 'Answered.') }),
  implement(remindThread, { write: async (tx, input, ctx) => ok(await remindByHand(tx, ctx, input), 'Reminded.') }),
  implement(listRecipients, {
    read: async ({ role }, { reader, principal, clock }) => {
      const agents = await recipientsOf(reader, principal, { role }, clock.now(), HUMAN);
      const named = agents.slice(0, RECIPIENTS_NAMED);
      const ids = named.map(({ id }) => id);
      const parties = await partiesFor(reader, principal, clock.now(), ids);
      const items = named.map((agent) => ({ ...parties.agent(agent.id, null), runtime: agent.runtime, role: agent.role }));
      return ok({ items, total: agents.length });
    },
  }),
  implement(broadcastByHand, { write: async (tx, input, ctx) => ok(await broadcastFrom(tx, ctx, input), 'Sent.') }),
];

async function answerByHand(tx: Tx, ctx: WriteContext, { id, answer }: Input<typeof answerThread>): Promise<Output<typeof answerThread>> {
  const found = await unansweredNamed(tx.db, ctx.principal, id);
  if (found.of === 'asks') {
    const { row } = found;
    if (!mayAnswer(found, ctx.principal)) throw askOfAnother(row, ctx.principal);
    if (row.answered_at !== null) {
      throw new Refusal(
        'ASK_ALREADY_ANSWERED',
        'This ask is already answered. The first answer counts.',
        `To read the answer, run: covenant messages show ${row.id}`,
        { field: 'id' },
      );
    }
    if (answer.length > MAX_ASK_ANSWER) throw invalidInput([{ field: 'answer', message: `has more than ${MAX_ASK_ANSWER} characters` }]);
    await answerAsk(tx, ctx, row, answer);
    return { id: row.id, kind: 'ask', task_status: null };
  }
  if (kindOf(found) !== 'question')
    throw new Refusal(
      'NOT_A_QUESTION',
      'This thread contains no question to people.',
      'To see the questions to people, run: covenant messages list --kind question',
      {
        field: 'id',
      },
    );
  const question = found.of === 'messages' ? (found.facts.open_question ?? found.row.id) : found.row.id;
  const { question_id, task_status } = await answerNamed(tx, ctx, question, answer);
  return { id: question_id, kind: 'question', task_status };
}

/** Maximum number of characters in a person's answer to an ask. The same limit applies to answers from agents. */
const MAX_ASK_ANSWER = 4_000;

/** The refusal does not reveal which agents another developer runs. */
const askOfAnother = ({ id, to_developer_id, to_agent_type }: AskRow, { developerId }: Principal): Refusal =>
  notFound(
    'ASK_NOT_FOUND',
    `Ask ${JSON.stringify(id)} does not exist or is not yours to answer.`,
    to_developer_id === developerId
      ? `It was sent to your ${to_agent_type}, which can answer it: covibe_coordination with operation "reply", ask_id "${id}" and a message.`
      : `Its addressee can answer it. The operator can run: covenant messages answer ${id} TEXT`,
    'id',
  );

async function remindByHand(tx: Tx, ctx: WriteContext, { id }: Input<typeof remindThread>): Promise<Output<typeof remindThread>> {
  const found = await unansweredNamed(tx.db, ctx.principal, id);
  const delivery = deliveryOf(found);
  const kind = kindOf(found);
  if (!mayBeReminded(found, delivery, tx.now) || kind === 'handoff' || kind === 'announcement') {
    throw new Refusal(
      'NOTHING_TO_REMIND_OF',
      'No answer is missing in this thread.',
      'Nothing to do. To see what is unanswered, run: covenant messages list --state unanswered',
      { field: 'id' },
    );
  }
  const [last] = await remindersOf(tx.db, tx.workspace, found.row.id);
  const from = remindableFrom(delivery.sent_at, last?.time ?? null);
  if (tx.now < from) {
    const why = last ? 'The last reminder was sent a short time ago.' : 'The message was sent a moment ago.';
    throw new Refusal('REMINDED_RECENTLY', why, `Try again after ${new Date(from).toISOString()}.`, { field: 'id', again_at: from });
  }
  const reached = await sendReminders(tx, ctx, found);
  record(tx, ctx, { category: 'work', kind: `${kind}.reminded`, subject: found.row.id, payload: { told: reached } });
  return { id: found.row.id, kind, told: reached, again_at: remindableFrom(delivery.sent_at, tx.now) };
}

const MAX_REMINDED = 20;
const QUOTED = 500;

/**
 * Sends a message to the agents whose answer is missing. People see the reminder on the thread's page. Every team heartbeat also returns open asks to
 * their addressees.
 */
async function sendReminders(tx: Tx, ctx: WriteContext, found: FoundThread): Promise<number> {
  const { actor } = ctx.principal;
  const words = { message_type: 'notification', priority: 'high' } as const;
  if (found.of === 'messages') {
    const { row } = found;
    if (kindOf(found) === 'question') return 0;
    const body = `A person asks you to answer message ${row.id}: message_send with reply_to_id "${row.id}".`;
    await sendDirectMessage(tx, { ...words, from: HUMAN, to: row.recipient_id, actor, subject: 'Reminder', body, about: row });
    return 1;
  }
  if (found.of !== 'asks') return 0;
  const { id, to_developer_id, to_agent_type, message } = found.row;
  const { rows } = await listAgents(tx.db, ctx.principal, { status: ['online', 'busy'] }, tx.now, { limit: 1_000, offset: 0 });
  const theirs = rows.filter(
    (agent) => agent.developer_id === to_developer_id && (to_agent_type === null || agent.actor === `agent:${to_agent_type}@${to_developer_id}`),
  );
  const body = `The ask ${id} waits for your answer: ${beginning(message, QUOTED)}\nAnswer with covibe_coordination, operation "reply", ask_id "${id}" and a message.`;
  for (const agent of theirs.slice(0, MAX_REMINDED))
    await sendDirectMessage(tx, { ...words, from: HUMAN, to: agent.id, actor, subject: 'Reminder of an ask', body });
  return Math.min(theirs.length, MAX_REMINDED);
}

async function broadcastFrom(tx: Tx, ctx: WriteContext, input: Input<typeof broadcastByHand>): Promise<Output<typeof broadcastByHand>> {
  const { message, to, role, developer } = input;
  if (developer !== undefined && ctx.principal.kind !== 'operator')
    throw invalidInput([{ field: 'developer', message: 'can be set only by the operator; your own announcements always carry your name' }]);
  if (to === 'team') {
    if (role !== undefined) throw invalidInput([{ field: 'role', message: 'is not allowed for an announcement, which is for the whole team' }]);
    const named = developer === undefined ? undefined : await developerFor(tx.db, tx.workspace, ctx.principal, developer);
    const developerId = named?.id ?? callingDeveloper(ctx.principal);
    return { id: await announceToTeam(tx, ctx, { developerId, message, repo: null, paths: [] }), sent_count: null };
  }
  if (developer !== undefined)
    throw invalidInput([{ field: 'developer', message: 'is only allowed for announcements, because messages to agents carry no name' }]);
  const words = { message_type: 'notification', body: message } as const;
  const { messages } = await broadcast(tx, ctx, { senderId: HUMAN, workflowId: null, filter: { role }, words });
  return { id: messages[0]?.id ?? null, sent_count: messages.length };
}

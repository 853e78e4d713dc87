import { record } from '../../kernel/context.ts';
import { Refusal } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { ok } from '../../kernel/reply.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import { listAgents } from '../agents/index.ts';
import { HUMAN } from './addresses.ts';
import { ask } from './ask.ts';
import { newMessage, requireRecipient, requireSender, threadFor, workOf } from './compose.ts';
import { broadcastMessage, sendMessage } from './contract.ts';
import { insertMessages } from './store.ts';

const MOST_RECIPIENTS = 1_000;

export const sendTools: Implementation[] = [
  implement(sendMessage, {
    write: async (tx, input, ctx) => {
      const sender = await requireSender(tx, ctx, input.sender_id);
      const toPeople = input.recipient_id === HUMAN;
      if (!toPeople) await requireRecipient(tx, input.recipient_id);
      const { workflowId, task } = await workOf(tx, input.workflow_id, input.task_id);
      const threadId = await threadFor(tx, sender.id, input.reply_to_id);
      const message = newMessage(tx, input, {
        threadId,
        replyToId: input.reply_to_id ?? null,
        senderId: sender.id,
        recipientId: input.recipient_id,
        workflowId,
        taskId: task?.id ?? null,
        actor: ctx.principal.actor,
      });
      if (toPeople) await ask(tx, ctx, message, task);
      await insertMessages(tx.db, [message]);
      const { id, thread_id, expires_at } = message;
      record(tx, ctx, {
        category: 'work',
        kind: toPeople ? 'question.asked' : 'message.sent',
        subject: id,
        payload: {
          thread_id,
          sender_id: sender.id,
          recipient_id: message.recipient_id,
          message_type: message.message_type,
          priority: message.priority,
          workflow_id: workflowId,
          task_id: message.task_id,
          expires_at,
        },
      });
      return ok({ id, thread_id, expires_at });
    },
  }),
  implement(broadcastMessage, {
    write: async (tx, input, ctx) => {
      const sender = await requireSender(tx, ctx, input.sender_id);
      const { workflowId } = await workOf(tx, input.workflow_id, undefined);
      const { status, ...filter } = input.recipient_filter ?? {};
      // One more than may be, and one for the sender.
      const page = { limit: MOST_RECIPIENTS + 2, offset: 0 };
      const { rows } = await listAgents(tx.db, tx.workspace, { ...filter, status: status ? [status] : ['online', 'busy'] }, tx.now, page);
      const recipients = rows.map(({ id }) => id).filter((id) => id !== sender.id);
      if (recipients.length > MOST_RECIPIENTS) throw tooMany();
      const threadId = newId('thr', tx.now);
      const messages = recipients.map((recipientId) =>
        newMessage(tx, input, { threadId, senderId: sender.id, recipientId, workflowId, actor: ctx.principal.actor }),
      );
      const [first] = messages;
      if (!first) return ok({ sent_count: 0, message_ids: [], thread_id: null, expires_at: null }, 'No other agent matches: nobody got it.');
      await insertMessages(tx.db, messages);
      record(tx, ctx, {
        category: 'work',
        kind: 'message.broadcast',
        subject: threadId,
        payload: {
          sender_id: sender.id,
          sent_count: messages.length,
          message_type: first.message_type,
          priority: first.priority,
          workflow_id: workflowId,
          expires_at: first.expires_at,
        },
      });
      return ok({ sent_count: messages.length, message_ids: messages.map(({ id }) => id), thread_id: threadId, expires_at: first.expires_at });
    },
  }),
];

const tooMany = (): Refusal =>
  new Refusal('TOO_MANY_RECIPIENTS', `More than ${MOST_RECIPIENTS} agents would get this message.`, 'Narrow recipient_filter by role, status or runtime.', {
    field: 'recipient_filter',
    limit: MOST_RECIPIENTS,
  });

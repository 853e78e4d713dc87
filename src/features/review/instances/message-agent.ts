import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input, Output } from '../../../kernel/contract.ts';
import { invalidState } from '../../../kernel/reply.ts';
import type { Tx } from '../../../storage/write.ts';
import { HUMAN } from '../../workflow/messages/index.ts';
import type { instancesMessage } from './contract.ts';
import { requireInstance } from './guards.ts';
import { AT_WORK, isRunning, withNews } from './lifecycle.ts';
import type { InstancePorts } from './ports.ts';
import { changeInstance } from './store.ts';

/** Maximum number of characters that are typed into a terminal. */
const MAX_TYPED = 1_000;
const SUBJECT = 'Message from a person';

/** Puts a person's message into the agent's inbox, and types it into the agent's terminal. Feedback is delivered in the same way. */
export async function messageAgent(
  tx: Tx,
  ports: InstancePorts,
  ctx: WriteContext,
  { instance_id, message }: Input<typeof instancesMessage>,
): Promise<Output<typeof instancesMessage>> {
  const row = await requireInstance(tx.db, tx.workspace, instance_id);
  if (row.step === 'ending' || row.ended_at !== null || !(AT_WORK.includes(row.status) || isRunning(row))) {
    throw invalidState(`${row.id} is ${row.status}, so its agent reads no messages any more.`, `Run \`covenant instances show ${row.id}\` for its state.`, {
      instance_id,
      status: row.status,
    });
  }
  const message_id = await ports.sendMessage(tx, {
    from: HUMAN,
    to: row.agent_id,
    actor: ctx.principal.actor,
    subject: SUBJECT,
    body: message,
    priority: 'high',
  });
  await changeInstance(tx.db, row, { news: withNews(row, typed(message, message_id)), updated_at: tx.now });
  record(tx, ctx, { category: 'work', kind: 'instance.messaged', subject: row.id, payload: { message_id } });
  return { instance_id, message_id, reaches: row.session_kind === 'tmux' && isRunning(row) ? 'terminal' : 'next_start' };
}

/** Returns the line to type. For a long message, the line only says that the message is in the inbox. */
const typed = (message: string, id: string): string => {
  const line = message.replace(/\s+/g, ' ');
  return line.length <= MAX_TYPED ? `${SUBJECT} (${id}): ${line}` : `${SUBJECT} (${id}): call message_list to read it.`;
};

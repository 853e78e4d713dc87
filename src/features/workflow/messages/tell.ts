import { newId } from '../../../kernel/ids.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { newMessage, type Words } from './compose.ts';
import { insertMessages } from './store.ts';

export interface Told extends Words {
  readonly from: string;
  readonly to: string;
  readonly actor: string;
  /** The message that it goes with, in whose thread it then stands. */
  readonly about?: Pick<MessageRow, 'id' | 'thread_id'>;
}

/** A message that the server sends for one agent to another. Answers its id. */
export async function tell(tx: Tx, { from, to, actor, about, ...words }: Told): Promise<string> {
  const place = { threadId: about?.thread_id ?? newId('thr', tx.now), replyToId: about?.id ?? null };
  const message = newMessage(tx, words, { ...place, senderId: from, recipientId: to, workflowId: null, actor });
  await insertMessages(tx.db, [message]);
  const { id, thread_id, message_type, priority } = message;
  const payload = { thread_id, sender_id: from, recipient_id: to, message_type, priority, workflow_id: null, task_id: null, expires_at: message.expires_at };
  tx.append({ category: 'work', kind: 'message.sent', actor, subject: id, payload });
  return id;
}

import type { WriteContext } from '../../../kernel/context.ts';
import type { MessageRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findAgent, isOwn } from '../agents/index.ts';
import { messageNotFound } from './refusals.ts';
import { findMessages } from './store.ts';

export async function isOwnAgent(tx: Tx, ctx: WriteContext, id: string): Promise<boolean> {
  const agent = await findAgent(tx.db, tx.workspace, id);
  return agent !== undefined && isOwn(agent, ctx.principal);
}

/** All of these messages, each once, received by agents of the caller's; otherwise the first that is not is named. */
export async function ownReceived(tx: Tx, ctx: WriteContext, ids: readonly string[]): Promise<MessageRow[]> {
  const found = new Map((await findMessages(tx.db, tx.workspace, ids)).map((row) => [row.id, row]));
  const own = new Map<string, boolean>();
  for (const { recipient_id } of found.values()) {
    if (!own.has(recipient_id)) own.set(recipient_id, await isOwnAgent(tx, ctx, recipient_id));
  }
  const foreign = ids.find((id) => !own.get(found.get(id)?.recipient_id ?? ''));
  if (foreign !== undefined) throw messageNotFound(foreign, 'message_ids');
  return [...found.values()];
}

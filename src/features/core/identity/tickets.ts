import type { House } from '../../../kernel/context.ts';
import type { TokenRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { deleteStaleTickets, insertTicket, takeTicketRow } from './store.ts';
import { hashSecret, mintSecret } from './token.ts';

export const TICKET_MS = 30_000;

/** Opens `path` once for the dashboard session of this token, within thirty seconds. */
export async function issueTicket(tx: Tx, tokenId: string, path: string): Promise<{ ticket: string; expiresAt: number }> {
  await deleteStaleTickets(tx.db, tx.workspace, tx.now);
  const ticket = mintSecret();
  const expiresAt = tx.now + TICKET_MS;
  await insertTicket(tx.db, { workspace_id: tx.workspace, hash: hashSecret(ticket), token_id: tokenId, path, expires_at: expiresAt });
  return { ticket, expiresAt };
}

/** A ticket that was shown is gone, also where it was shown at another address or by another session. */
export async function takeTicket(house: House, token: Pick<TokenRow, 'id' | 'workspace_id'>, ticket: string, path: string): Promise<boolean> {
  const row = await house.store.write(token.workspace_id, (tx) => takeTicketRow(tx.db, hashSecret(ticket)));
  return row !== undefined && row.workspace_id === token.workspace_id && row.token_id === token.id && row.path === path && house.clock.now() <= row.expires_at;
}

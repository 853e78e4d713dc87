import type { Services } from '../../../kernel/call.ts';
import { deleteRows, insertRows } from '../../../storage/rows.ts';
import type { TokenRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { hashSecret, mintSecret } from './secrets.ts';

export const TICKET_MS = 30_000;

/** Creates a ticket with which the dashboard session of this token can open `path` once, within thirty seconds. */
export async function issueTicket(tx: Tx, tokenId: string, path: string): Promise<{ ticket: string; expiresAt: number }> {
  await deleteRows(tx.db, 'page_tickets', { workspace_id: tx.workspace, expires_at: { '<': tx.now } });
  const ticket = mintSecret();
  const expiresAt = tx.now + TICKET_MS;
  await insertRows(tx.db, 'page_tickets', { workspace_id: tx.workspace, hash: hashSecret(ticket), token_id: tokenId, path, expires_at: expiresAt });
  return { ticket, expiresAt };
}

/** Whether the ticket opens the path for this session. Any attempt uses it up, even for another address or session. */
export async function takeTicket(services: Services, token: Pick<TokenRow, 'id' | 'workspace_id'>, ticket: string, path: string): Promise<boolean> {
  // The row is found and deleted in one statement, so that only one of two simultaneous uses gets it.
  const row = await services.store.write(token.workspace_id, ({ db }) =>
    db.deleteFrom('page_tickets').where('hash', '=', hashSecret(ticket)).returningAll().executeTakeFirst(),
  );
  return (
    row !== undefined && row.workspace_id === token.workspace_id && row.token_id === token.id && row.path === path && services.clock.now() <= row.expires_at
  );
}

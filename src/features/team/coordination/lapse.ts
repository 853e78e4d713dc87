import type { ClaimRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { unmarkFiles } from '../overlap/index.ts';
import { boundedDetails } from './excerpt.ts';
import { lapsedClaimsIn, noteExpiry, readStrings } from './store.ts';

export const claimDetails = (row: ClaimRow): Record<string, unknown> => ({
  claim_id: row.id,
  mode: row.mode,
  ...boundedDetails({ repo: row.repo, paths: readStrings(row.paths), symbols: readStrings(row.symbols) }),
});

/** Tells that a lease has ended, if nobody has. From then on no clock, such as that of a server which is behind, can renew it. */
export async function expireClaim(tx: Tx, id: string, now: number): Promise<void> {
  const row = await noteExpiry(tx.db, tx.workspace, id, now);
  if (!row) return;
  await unmarkFiles(tx, 'claim', id);
  const payload = { ...claimDetails(row), expired_at: row.expires_at };
  tx.append({ category: 'work', kind: 'claim.expired', actor: row.actor, subject: id, session: row.session_id, payload });
}

/** Before somebody else is given the code. */
export async function noteLapses(tx: Tx): Promise<void> {
  for (const id of await lapsedClaimsIn(tx.db, tx.workspace, tx.now)) await expireClaim(tx, id, tx.now);
}

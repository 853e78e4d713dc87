import type { Services, WriteContext } from '../../../kernel/call.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import { changeRows } from '../../../storage/rows.ts';
import type { ClaimRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { keepMarked, unmarkFiles } from '../overlap/index.ts';
import { claimDetails } from './event-details.ts';
import { expiredClaims, expiredClaimsIn, liveClaimRows, markExpired } from './store.ts';

/**
 * A heartbeat renews the claims of its session, and the claims that the same agent made without a session. Without a session, it renews
 * only the latter. An expired lease is never renewed: somebody else may have claimed the code since.
 */
export async function renewClaims(tx: Tx, ctx: WriteContext, sessionId: string | null): Promise<number> {
  const { developerId, actor } = ctx.principal;
  if (!developerId) return 0;
  const isHolder = (row: ClaimRow) => (row.session_id === null ? row.actor === actor : row.session_id === sessionId);
  const own = (await liveClaimRows(tx.db, tx.workspace, tx.now, developerId)).filter(isHolder);
  // One update per lease duration, because heartbeats are frequent and every writer waits for them.
  for (const [ttl, rows] of Map.groupBy(own, (row) => row.ttl_minutes)) {
    const expires_at = tx.now + ttl * 60_000;
    const ids = rows.filter((row) => row.expires_at < expires_at).map(({ id }) => id);
    if (ids.length === 0) continue;
    await changeRows(tx.db, 'claims', { workspace_id: tx.workspace, id: ids }, { expires_at });
    await keepMarked(tx, 'claim', ids, expires_at);
  }
  return own.length;
}

/** Records the end of a lease, unless another server did. After that, no server whose clock is behind can renew it. */
async function expireClaim(tx: Tx, id: string, now: number): Promise<void> {
  const row = await markExpired(tx.db, tx.workspace, id, now);
  if (!row) return;
  await unmarkFiles(tx, 'claim', id);
  const payload = { ...claimDetails(row), expired_at: row.expires_at };
  tx.append({ category: 'work', kind: 'claim.expired', actor: row.actor, subject: id, session: row.session_id, payload });
}

/** Expired claims must be recorded before somebody else claims the code. */
export async function recordExpiredClaims(tx: Tx): Promise<void> {
  for (const id of await expiredClaimsIn(tx.db, tx.workspace, tx.now)) await expireClaim(tx, id, tx.now);
}

/** A lease ends when its time is over. The sweep only records the end. */
export const expirySweep = (services: Pick<Services, 'store' | 'clock' | 'log'>): Sweep =>
  dueSweep(services, { name: 'claims', everyMs: 15_000, atOnce: 500, find: expiredClaims, settle: (tx, { id }) => expireClaim(tx, id, tx.now) });

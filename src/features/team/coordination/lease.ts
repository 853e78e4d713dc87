import type { Services, WriteContext } from '../../../kernel/call.ts';
import { dueSweep, type Sweep } from '../../../kernel/sweep.ts';
import { changeRows } from '../../../storage/rows.ts';
import type { ClaimRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { keepMarked, unmarkFiles } from '../overlap/index.ts';
import { claimDetails } from './event-details.ts';
import { expiredClaims, expiredClaimsIn, liveClaimRows, markExpired } from './store.ts';

/**
 * Renews claims after a heartbeat: those of the heartbeat's session, and those that the same agent made without a session. A heartbeat without
 * a session renews only the second kind. An expired lease is never renewed, because somebody else may have claimed the code in the meantime.
 */
export async function renewClaims(tx: Tx, ctx: WriteContext, sessionId: string | null): Promise<number> {
  const { developerId, actor } = ctx.principal;
  if (!developerId) return 0;
  const isHolder = (row: ClaimRow) => (row.session_id === null ? row.actor === actor : row.session_id === sessionId);
  const own = (await liveClaimRows(tx.db, tx.workspace, tx.now, developerId)).filter(isHolder);
  // Claims with the same lease duration are renewed in one update, because heartbeats are frequent and all other writers wait for them.
  for (const [ttl, rows] of Map.groupBy(own, (row) => row.ttl_minutes)) {
    const expires_at = tx.now + ttl * 60_000;
    const ids = rows.filter((row) => row.expires_at < expires_at).map(({ id }) => id);
    if (ids.length === 0) continue;
    await changeRows(tx.db, 'claims', { workspace_id: tx.workspace, id: ids }, { expires_at });
    await keepMarked(tx, 'claim', ids, expires_at);
  }
  return own.length;
}

/** Records that a lease has ended, unless another server has already done so. A server whose clock is behind can then no longer renew the lease. */
async function expireClaim(tx: Tx, id: string, now: number): Promise<void> {
  const row = await markExpired(tx.db, tx.workspace, id, now);
  if (!row) return;
  await unmarkFiles(tx, 'claim', id);
  const payload = { ...claimDetails(row), expired_at: row.expires_at };
  tx.append({ category: 'work', kind: 'claim.expired', actor: row.actor, subject: id, session: row.session_id, payload });
}

/** Records all expired claims of the workspace. This must happen before a new claim is checked for conflicts. */
export async function recordExpiredClaims(tx: Tx): Promise<void> {
  for (const id of await expiredClaimsIn(tx.db, tx.workspace, tx.now)) await expireClaim(tx, id, tx.now);
}

/** A lease ends at its expiry time, even if the sweep is late. The sweep only records the end. */
export const expirySweep = (services: Pick<Services, 'store' | 'clock' | 'log'>): Sweep =>
  dueSweep(services, { name: 'claims', everyMs: 15_000, atOnce: 500, find: expiredClaims, settle: (tx, { id }) => expireClaim(tx, id, tx.now) });

import { type CallContext, record } from '../../kernel/call.ts';
import { ok, Refusal, type Refused, type Reply, refused } from '../../kernel/reply.ts';
import { deleteRows, findRow, insertRows, newId, saveRows } from '../../storage/rows.ts';
import { type CycleConfig, FOLDER } from './config.ts';
import { hashToken, mintSessionToken, pskMark, sameSecret } from './tokens.ts';

interface SessionPlace {
  readonly repository: string;
  readonly config: CycleConfig;
  /** Path of the file that contains the PSKs. */
  readonly source: string;
}

interface RoleCredentials {
  readonly role: string;
  readonly psk: string;
}

export async function openSession(
  ctx: CallContext,
  { repository, config, source }: SessionPlace,
  { role, psk }: RoleCredentials,
): Promise<Reply<{ session_token: string; role: string }>> {
  const expected = config.psks.get(role);
  const { roles } = config.machine;
  // The message does not repeat the input, because a caller who confuses two fields may have sent a secret.
  if (!roles.includes(role) || expected === undefined)
    throw new Refusal('INVALID_ROLE', 'No role of this repository has this name.', `Repeat the call with \`role\` set to ${roles.join(' or ')}.`, {
      field: 'role',
      roles,
    });
  const { tokenId, actor } = ctx.principal;
  return await ctx.write(async (tx) => {
    const attempt = { workspace_id: tx.workspace, repository: source, role, token_id: tokenId };
    const before = await findRow(tx.db, 'psk_failures', attempt);
    const wait = waitAfter(before, tx.now);
    if (wait > 0) return authFailed(`Too many wrong PSKs. Repeat the call in ${Math.ceil(wait / 1000)} s.`, { role, retry_after_ms: wait });
    if (!sameSecret(expected, psk)) {
      const failures = countedFailures(before, tx.now) + 1;
      await saveRows(tx.db, 'psk_failures', ['workspace_id', 'repository', 'role', 'token_id'], { ...attempt, failures, last_at: tx.now });
      record(tx, ctx, { category: 'audit', kind: 'cycle.psk_refused', subject: null, payload: { repository, role, failures } });
      return authFailed(`Repeat the call with \`psk\` set to agents.${role}.psk of ${FOLDER}/config.json.`, { role });
    }
    if (before) await deleteRows(tx.db, 'psk_failures', attempt);
    const token = mintSessionToken();
    const id = newId('rses', tx.now);
    await insertRows(tx.db, 'role_sessions', {
      workspace_id: tx.workspace,
      id,
      token_sha256: hashToken(token),
      psk_mark: pskMark(token, expected),
      repository,
      role,
      token_id: tokenId,
      actor,
      created_at: tx.now,
      last_seen: tx.now,
      expires_at: tx.now + config.sessionTtlMs,
      closed_at: null,
      closed_by: null,
    });
    record(tx, ctx, { category: 'audit', kind: 'cycle.session_opened', subject: id, payload: { repository, role } });
    return ok({ session_token: token, role });
  });
}

/** Returned and not thrown. A thrown refusal would roll back the transaction, and the wrong PSK would not be counted. */
const authFailed = (next: string, details: Record<string, unknown>): Refused => refused('error', 'AUTH_FAILED', 'Invalid role credentials.', next, details);

/** From this number of wrong PSKs in a row on, each one causes a delay. Fewer cause none, because people mistype. */
const FREE_FAILURES = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** If there was no further failure for this long, earlier failures are forgotten. */
export const FAILURES_COUNT_MS = 3_600_000;

interface PskFailures {
  readonly failures: number;
  readonly last_at: number;
}

/** The number of failures that are not yet forgotten. */
export const countedFailures = (row: PskFailures | undefined, now: number): number => (row && now - row.last_at < FAILURES_COUNT_MS ? row.failures : 0);

/** Milliseconds until the next attempt is allowed: one second after the fifth failure, and twice as long after each further failure. */
export function waitAfter(row: PskFailures | undefined, now: number): number {
  const count = countedFailures(row, now);
  if (!row || count < FREE_FAILURES) return 0;
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - FREE_FAILURES));
  return Math.max(0, row.last_at + wait - now);
}

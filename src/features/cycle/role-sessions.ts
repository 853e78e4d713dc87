import { type CallContext, record } from '../../kernel/call.ts';
import { onlyRow, rowsEndingIn } from '../../kernel/find-by-suffix.ts';
import { ok, Refusal, type Refused, type Reply, refused } from '../../kernel/reply.ts';
import type { Db } from '../../storage/engine.ts';
import { changeRows, deleteRows, findRow, findRows, insertRows, matching, newId, saveRows } from '../../storage/rows.ts';
import type { RoleSessionRow } from '../../storage/schema-rows.ts';
import type { Tx } from '../../storage/write.ts';
import { type CycleConfig, FOLDER } from './config.ts';
import { activeCycle, type StoredCycle } from './store.ts';
import { hashToken, mintSessionToken, pskMark, sameSecret } from './tokens.ts';

interface Where {
  readonly repository: string;
  readonly config: CycleConfig;
  /** The file that has the PSKs. */
  readonly source: string;
}

interface Credentials {
  readonly role: string;
  readonly psk: string;
}

export async function openSession(
  ctx: CallContext,
  { repository, config, source }: Where,
  { role, psk }: Credentials,
): Promise<Reply<{ session_token: string; role: string }>> {
  const expected = config.psks.get(role);
  const { roles } = config.machine;
  // Does not say again what was given: whoever confuses two fields has put a secret there.
  if (!roles.includes(role) || expected === undefined)
    throw new Refusal('INVALID_ROLE', 'There is no such role.', `Use one of ${roles.join(', ')}.`, { field: 'role', roles });
  const { tokenId, actor } = ctx.principal;
  return await ctx.write(async (tx) => {
    const attempt = { workspace_id: tx.workspace, repository: source, role, token_id: tokenId };
    const before = await findRow(tx.db, 'psk_failures', attempt);
    const wait = waitAfter(before, tx.now);
    if (wait > 0) return authFailed(`Too many wrong PSKs: try again in ${Math.ceil(wait / 1000)} s.`, { role, retry_after_ms: wait });
    if (!sameSecret(expected, psk)) {
      const failures = counted(before, tx.now) + 1;
      await saveRows(tx.db, 'psk_failures', ['workspace_id', 'repository', 'role', 'token_id'], { ...attempt, failures, last_at: tx.now });
      record(tx, ctx, { category: 'audit', kind: 'cycle.psk_refused', subject: null, payload: { repository, role, failures } });
      return authFailed(`Use the psk that ${FOLDER}/config.json has for ${role}.`, { role });
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

/** What was noted of a wrong PSK must stay, so the refusal is answered and not thrown. */
const authFailed = (next: string, details: Record<string, unknown>): Refused => refused('error', 'AUTH_FAILED', 'Invalid role credentials.', next, details);

/** So many wrong PSKs in a row cost nothing: people mistype. */
const FREE = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** After such a while without one they are forgotten. */
export const FORGOTTEN_AFTER_MS = 3_600_000;

interface Failures {
  readonly failures: number;
  readonly last_at: number;
}

/** How many failures still count. */
export const counted = (row: Failures | undefined, now: number): number => (row && now - row.last_at < FORGOTTEN_AFTER_MS ? row.failures : 0);

/** How long the next attempt must still wait: a second after the fifth failure, and twice as long after each further one. */
export function waitAfter(row: Failures | undefined, now: number): number {
  const count = counted(row, now);
  if (!row || count < FREE) return 0;
  const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - FREE));
  return Math.max(0, row.last_at + wait - now);
}

/** Who presents a session token, and where. */
export interface Presented {
  readonly token: string;
  /** The caller's own token: a session is of use to nobody but its opener. */
  readonly tokenId: string;
  readonly repository: string;
  /** By role, as they are now. */
  readonly psks: ReadonlyMap<string, string>;
}

/** The session, if the token is good here and now; its use is written down. */
export async function useSession(tx: Tx, { token, tokenId, repository, psks }: Presented): Promise<RoleSessionRow> {
  const row = await findRow(tx.db, 'role_sessions', { workspace_id: tx.workspace, token_sha256: hashToken(token) });
  if (!row || row.token_id !== tokenId) throw invalidSession('is unknown');
  if (row.repository !== repository) throw invalidSession('is of another repository');
  if (row.closed_at !== null) throw invalidSession('is of a session that was closed');
  if (row.expires_at <= tx.now) throw invalidSession('has expired');
  // A role that the config no longer has may still end a cycle that began with it.
  const psk = psks.get(row.role);
  if (psk !== undefined && row.psk_mark !== pskMark(token, psk)) throw invalidSession(`was opened with another PSK than ${row.role} has now`);
  await changeRows(tx.db, 'role_sessions', { workspace_id: tx.workspace, id: row.id }, { last_seen: tx.now });
  return row;
}

const invalidSession = (why: string): Refusal =>
  new Refusal('INVALID_SESSION', `The session token ${why}.`, 'Call session.open again for your role and use the new session_token.', {
    field: 'session_token',
  });

/** What a role wants to do. */
export interface Turn<J, T> {
  /** Whether it may, of the cycle as it stands. Pure: the session has been used even where it may not. */
  judge(cycle: StoredCycle | undefined, role: string): J;
  /** What follows. */
  apply(tx: Tx, cycle: StoredCycle, judged: J): Promise<Reply<T>>;
}

interface ByRole<J, T> extends Turn<J, T> {
  readonly repository: string;
  readonly config: CycleConfig;
  readonly sessionToken: string;
}

/** Session, rule and change in one transaction: of two that hold the same token, one comes first, and the other is judged by what it left. */
export async function asRole<J, T>(ctx: CallContext, { repository, config, sessionToken, judge, apply }: ByRole<J, T>): Promise<Reply<T>> {
  return await ctx.write(async (tx) => {
    const { role } = await useSession(tx, { token: sessionToken, tokenId: ctx.principal.tokenId, repository, psks: config.psks });
    const cycle = await activeCycle(tx.db, tx.workspace, repository);
    let judged: J;
    try {
      judged = judge(cycle, role);
    } catch (error) {
      if (error instanceof Refusal) return refused('error', error.code, error.message, error.next, error.details);
      throw error;
    }
    return await apply(tx, cycle as StoredCycle, judged);
  });
}

/** By its id, or an unambiguous tail of it. */
export async function findSession(db: Db, workspace: string, tail: string): Promise<RoleSessionRow | undefined> {
  const found = await rowsEndingIn(matching(db, 'role_sessions', { workspace_id: workspace }).selectAll(), tail);
  return found.length === 0 ? undefined : onlyRow(found, tail, 'session');
}

const MAX_LISTED = 200;

/** Newest first. */
export const sessionsIn = (db: Db, workspace: string, repository: string | undefined): Promise<RoleSessionRow[]> =>
  findRows(db, 'role_sessions', { workspace_id: workspace, repository }, { order: { id: 'desc' }, limit: MAX_LISTED });

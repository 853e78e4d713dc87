import { onlyRow, rowsEndingIn } from '../../kernel/tail.ts';
import type { Db } from '../../storage/engine.ts';
import type { PskFailureRow, RoleSessionRow } from '../../storage/schema-rows.ts';
import type { Tx } from '../../storage/write.ts';
import { invalidSession } from './refusals.ts';
import { hashToken, pskMark } from './tokens.ts';

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
  const row = await tx.db
    .selectFrom('role_sessions')
    .selectAll()
    .where('workspace_id', '=', tx.workspace)
    .where('token_sha256', '=', hashToken(token))
    .executeTakeFirst();
  if (!row || row.token_id !== tokenId) throw invalidSession('is unknown');
  if (row.repository !== repository) throw invalidSession('is of another repository');
  if (row.closed_at !== null) throw invalidSession('is of a session that was closed');
  if (row.expires_at <= tx.now) throw invalidSession('has expired');
  // A role that the config no longer has may still end a cycle that began with it.
  const psk = psks.get(row.role);
  if (psk !== undefined && row.psk_mark !== pskMark(token, psk)) throw invalidSession(`was opened with another PSK than ${row.role} has now`);
  await tx.db.updateTable('role_sessions').set({ last_seen: tx.now }).where('workspace_id', '=', tx.workspace).where('id', '=', row.id).execute();
  return row;
}

export async function insertSession(db: Db, row: RoleSessionRow): Promise<void> {
  await db.insertInto('role_sessions').values(row).execute();
}

/** By its id, or an unambiguous tail of it. */
export async function findSession(db: Db, workspace: string, tail: string): Promise<RoleSessionRow | undefined> {
  const found = await rowsEndingIn(db.selectFrom('role_sessions').selectAll().where('workspace_id', '=', workspace), tail);
  return found.length === 0 ? undefined : onlyRow(found, tail, 'session');
}

export async function closeSession(db: Db, workspace: string, id: string, by: string, now: number): Promise<void> {
  await db.updateTable('role_sessions').set({ closed_at: now, closed_by: by }).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

const MAX_LISTED = 200;

/** Newest first. */
export async function sessionsIn(db: Db, workspace: string, repository: string | undefined): Promise<RoleSessionRow[]> {
  let matching = db.selectFrom('role_sessions').selectAll().where('workspace_id', '=', workspace);
  if (repository !== undefined) matching = matching.where('repository', '=', repository);
  return await matching.orderBy('id', 'desc').limit(MAX_LISTED).execute();
}

type Attempt = Omit<PskFailureRow, 'failures' | 'last_at'>;

const attempts = (db: Db, { workspace_id, repository, role, token_id }: Attempt) =>
  db
    .selectFrom('psk_failures')
    .where('workspace_id', '=', workspace_id)
    .where('repository', '=', repository)
    .where('role', '=', role)
    .where('token_id', '=', token_id);

export async function failuresOf(db: Db, attempt: Attempt): Promise<PskFailureRow | undefined> {
  return await attempts(db, attempt).selectAll().executeTakeFirst();
}

export async function noteFailure(db: Db, attempt: Attempt, failures: number, now: number): Promise<void> {
  const noted = { failures, last_at: now };
  await db
    .insertInto('psk_failures')
    .values({ ...attempt, ...noted })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'repository', 'role', 'token_id']).doUpdateSet(noted))
    .execute();
}

export async function forgetFailures(db: Db, { workspace_id, repository, role, token_id }: Attempt): Promise<void> {
  await db
    .deleteFrom('psk_failures')
    .where('workspace_id', '=', workspace_id)
    .where('repository', '=', repository)
    .where('role', '=', role)
    .where('token_id', '=', token_id)
    .execute();
}

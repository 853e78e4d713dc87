import type { CallContext } from '../../kernel/call.ts';
import { onlyRow, rowsEndingIn } from '../../kernel/find-by-suffix.ts';
import { Refusal, type Reply, refused } from '../../kernel/reply.ts';
import type { Db } from '../../storage/engine.ts';
import { changeRows, findRow, findRows, matching } from '../../storage/rows.ts';
import type { RoleSessionRow } from '../../storage/schema-rows.ts';
import type { Tx } from '../../storage/write.ts';
import type { CycleConfig } from './config.ts';
import { activeCycle, type StoredCycle } from './store.ts';
import { hashToken, pskMark } from './tokens.ts';

/** A change to a cycle that a caller makes in a role. The caller proves the role with a session token. */
export interface RoleOperation<J, T> {
  /** Checks whether the rules allow the change, and throws a refusal if they do not. It must not write, because a refusal does not roll back. */
  judge(cycle: StoredCycle | undefined, role: string): J;
  /** Makes the change after `judge` has allowed it. */
  apply(tx: Tx, cycle: StoredCycle, judged: J): Promise<Reply<T>>;
}

interface RoleCall<J, T> extends RoleOperation<J, T> {
  readonly repository: string;
  readonly config: CycleConfig;
  readonly sessionToken: string;
}

/** Checks the session, applies the rules and makes the change in one transaction. If two calls compete, the second sees the result of the first. */
export async function asRole<J, T>(ctx: CallContext, { repository, config, sessionToken, judge, apply }: RoleCall<J, T>): Promise<Reply<T>> {
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

interface PresentedToken {
  readonly token: string;
  /** Id of the token that the caller uses for Covenant. Only the caller that opened a session can use that session. */
  readonly tokenId: string;
  readonly repository: string;
  /** The current PSK of each role. */
  readonly psks: ReadonlyMap<string, string>;
}

/** Returns the session and records its use. Throws if the token is not valid for this caller and repository, or no longer valid. */
async function useSession(tx: Tx, { token, tokenId, repository, psks }: PresentedToken): Promise<RoleSessionRow> {
  const row = await findRow(tx.db, 'role_sessions', { workspace_id: tx.workspace, token_sha256: hashToken(token) });
  if (!row || row.token_id !== tokenId) throw invalidSession('is unknown');
  if (row.repository !== repository) throw invalidSession('belongs to another repository');
  if (row.closed_at !== null) throw invalidSession('belongs to a closed session', row.role);
  if (row.expires_at <= tx.now) throw invalidSession('has expired', row.role);
  // The PSK is not compared if the role was removed from the config, so that the role can still finish a cycle that started with it.
  const psk = psks.get(row.role);
  if (psk !== undefined && row.psk_mark !== pskMark(token, psk)) throw invalidSession(`was opened with an old PSK of ${row.role}`, row.role);
  await changeRows(tx.db, 'role_sessions', { workspace_id: tx.workspace, id: row.id }, { last_seen: tx.now });
  return row;
}

const invalidSession = (why: string, role?: string): Refusal =>
  new Refusal(
    'INVALID_SESSION',
    `The session token ${why}.`,
    `Call session.open with ${role ? `\`role\` "${role}"` : 'your `role`'} and its \`psk\`, then repeat the call with the new \`session_token\`.`,
    {
      field: 'session_token',
    },
  );

/** Finds a session by its id or by an unambiguous end of the id. */
export async function findSession(db: Db, workspace: string, tail: string): Promise<RoleSessionRow | undefined> {
  const found = await rowsEndingIn(matching(db, 'role_sessions', { workspace_id: workspace }).selectAll(), tail);
  return found.length === 0 ? undefined : onlyRow(found, tail, 'session');
}

const MAX_LISTED = 200;

/** The sessions of a repository or, if `repository` is undefined, of the workspace. The newest comes first. */
export const sessionsIn = (db: Db, workspace: string, repository: string | undefined): Promise<RoleSessionRow[]> =>
  findRows(db, 'role_sessions', { workspace_id: workspace, repository }, { order: { id: 'desc' }, limit: MAX_LISTED });

import { type CallContext, record } from '../../kernel/context.ts';
import type { Refusal } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { ok, type Refused, type Reply, refused } from '../../kernel/reply.ts';
import type { CycleConfig } from './config.ts';
import { authFailed, authSlowed, invalidRole } from './refusals.ts';
import { failuresOf, forgetFailures, insertSession, noteFailure } from './role-sessions.ts';
import { counted, waitAfter } from './slowing.ts';
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

/** What was noted of a wrong PSK must stay, so the refusal is answered and not thrown. */
export const answered = ({ code, message, next, details }: Refusal): Refused => refused('error', code, message, next, details);

export async function openSession(
  ctx: CallContext,
  { repository, config, source }: Where,
  { role, psk }: Credentials,
): Promise<Reply<{ session_token: string; role: string }>> {
  const expected = config.psks.get(role);
  if (!config.machine.roles.includes(role) || expected === undefined) throw invalidRole(config.machine.roles);
  const { tokenId, actor } = ctx.principal;
  return await ctx.write(async (tx) => {
    const attempt = { workspace_id: tx.workspace, repository: source, role, token_id: tokenId };
    const before = await failuresOf(tx.db, attempt);
    const wait = waitAfter(before, tx.now);
    if (wait > 0) return answered(authSlowed(role, wait));
    if (!sameSecret(expected, psk)) {
      const failures = counted(before, tx.now) + 1;
      await noteFailure(tx.db, attempt, failures, tx.now);
      record(tx, ctx, { category: 'audit', kind: 'cycle.psk_refused', subject: null, payload: { repository, role, failures } });
      return answered(authFailed(role));
    }
    if (before) await forgetFailures(tx.db, attempt);
    const token = mintSessionToken();
    const id = newId('rses', tx.now);
    await insertSession(tx.db, {
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

import { changeRows, findRow, insertRows, newId } from '../../../storage/rows.ts';
import type { TokenRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { giveProfile } from '../capabilities/index.ts';
import { hashSecret, mintToken } from './secrets.ts';
import { workspaceTokens } from './store.ts';

/** From `[limits]` in config.toml: lifetimes of sign-ins and tokens. */
export interface IdentityLimits {
  readonly session_idle_days: number;
  /** 0: agent tokens do not expire. */
  readonly agent_token_days: number;
}

interface NewToken {
  /** `web`: the sign-in of a browser, which the browser sends only as a cookie. */
  kind: TokenRow['kind'];
  developerId: string | null;
  agentType?: string | undefined;
  instanceId?: string | undefined;
  label?: string | undefined;
  /** Null: the token does not expire. The field is required, so that every caller has to decide. */
  expiresAt: number | null;
  /** For a dashboard session: the hash of its page proof. */
  proofHash?: string;
  by: string;
  /** The value of `created_by` if it is not `by`, for tokens that are later looked up by this column. */
  madeBy?: string;
}

/** Creates a token with the grants of its profile. The value is returned once and never stored. */
export async function issueToken(tx: Tx, newToken: NewToken): Promise<{ value: string; token: TokenRow }> {
  const value = mintToken();
  const takenLabels = (await workspaceTokens(tx.db, tx.workspace, newToken.developerId ?? undefined)).map(({ label }) => label);
  const token: TokenRow = {
    workspace_id: tx.workspace,
    id: newId('tok', tx.now),
    hash: hashSecret(value),
    kind: newToken.kind,
    developer_id: newToken.developerId,
    agent_type: newToken.agentType ?? null,
    instance_id: newToken.instanceId ?? null,
    label: newToken.label ?? defaultLabel(newToken.agentType ?? newToken.kind, takenLabels),
    created_by: newToken.madeBy ?? newToken.by,
    created_at: tx.now,
    expires_at: newToken.expiresAt,
    last_used_at: null,
    revoked_at: null,
    proof_hash: newToken.proofHash ?? null,
    previous_hash: null,
    previous_ends_at: null,
  };
  await insertRows(tx.db, 'tokens', token);
  tx.append({
    category: 'work',
    kind: 'token.created',
    actor: newToken.by,
    subject: token.id,
    payload: { kind: token.kind, developer_id: token.developer_id, agent_type: token.agent_type, instance_id: token.instance_id },
  });
  await giveProfile(tx, token.kind, `token:${token.id}`, newToken.by);
  return { value, token };
}

/** Returns the first of the labels "claude-code 1", "claude-code 2", … that the developer has not used. */
export function defaultLabel(noun: string, taken: readonly string[]): string {
  const used = new Set(taken);
  for (let number = 1; ; number++) {
    const label = `${noun} ${number}`;
    if (!used.has(label)) return label;
  }
}

/** Creates a token for one instance. The instance calls under its own id, on behalf of its developer. */
export async function issueInstanceToken(tx: Tx, instance: { id: string; developer_id: string | null }, by: string): Promise<{ id: string; value: string }> {
  const { value, token } = await issueToken(tx, {
    kind: 'instance',
    developerId: instance.developer_id,
    instanceId: instance.id,
    label: instance.id,
    expiresAt: null,
    by,
  });
  return { id: token.id, value };
}

const DAY_MS = 24 * 3_600_000;

/** The default expiry of an agent token created now. */
export const agentTokenExpiry = (now: number, { agent_token_days: days }: Pick<IdentityLimits, 'agent_token_days'>): number | null =>
  days === 0 ? null : now + days * DAY_MS;

interface Rotation {
  /** The replaced secret is accepted until this time. */
  readonly oldEndsAt: number;
  readonly expiresAt: number | null;
  readonly by: string;
}

/**
 * Replaces the secret of a token. The id stays the same, with everything that refers to it. A secret from an earlier rotation
 * stops working immediately.
 */
export async function rotateToken(tx: Tx, token: TokenRow, { oldEndsAt, expiresAt, by }: Rotation): Promise<string> {
  const value = mintToken();
  const secrets = { hash: hashSecret(value), previous_hash: token.hash, previous_ends_at: oldEndsAt };
  await changeRows(tx.db, 'tokens', { workspace_id: tx.workspace, id: token.id }, { ...secrets, expires_at: expiresAt });
  tx.append({
    category: 'work',
    kind: 'token.rotated',
    actor: by,
    subject: token.id,
    payload: { kind: token.kind, developer_id: token.developer_id, old_ends_at: oldEndsAt, expires_at: expiresAt },
  });
  return value;
}

/** Revokes a token and returns the time of the revocation. If the token was already revoked, the earlier time stays. */
export async function endToken(tx: Tx, token: TokenRow, by: string): Promise<number> {
  if (token.revoked_at !== null) return token.revoked_at;
  await changeRows(tx.db, 'tokens', { workspace_id: tx.workspace, id: token.id }, { revoked_at: tx.now });
  tx.append({ category: 'work', kind: 'token.revoked', actor: by, subject: token.id, payload: { kind: token.kind, developer_id: token.developer_id } });
  return tx.now;
}

export async function endTokenById(tx: Tx, id: string, by: string): Promise<void> {
  const token = await findRow(tx.db, 'tokens', { workspace_id: tx.workspace, id });
  if (token) await endToken(tx, token, by);
}

/** Ends every valid token of the workspace. Without `web`, keeps browser sign-ins. */
export async function endAllTokens(tx: Tx, by: string, { web }: { readonly web: boolean }): Promise<number> {
  const standing = (await workspaceTokens(tx.db, tx.workspace)).filter(({ revoked_at, kind }) => revoked_at === null && (web || kind !== 'web'));
  for (const token of standing) await endToken(tx, token, by);
  return standing.length;
}

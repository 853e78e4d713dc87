import type { WriteContext } from '../../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID, workspaceName } from '../../../kernel/ids.ts';
import { notFound, Refusal } from '../../../kernel/reply.ts';
import type { StoredToken } from '../../../storage/backup.ts';
import type { Store } from '../../../storage/open.ts';
import { changeRows, deleteRows, findRow, insertNewRow, insertRows, newId } from '../../../storage/rows.ts';
import type { DeveloperRow, TokenRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { giveProfile } from '../capabilities/index.ts';
import { endOf, hashSecret, mintToken, type TokenKind } from './authenticate.ts';
import { findDeveloper, firstDeveloper, liveWebTokens, workspaceTokens } from './store.ts';

/** Of `[limits]` in config.toml: how long sign-ins and tokens last. */
export interface IdentityLimits {
  readonly session_idle_days: number;
  /** 0: an agent's token does not expire. */
  readonly agent_token_days: number;
}

export async function ensureWorkspace(tx: Tx, by: string): Promise<void> {
  const name = workspaceName(tx.workspace);
  if (await insertNewRow(tx.db, 'workspaces', { id: tx.workspace, name, created_at: tx.now })) {
    tx.append({ category: 'work', kind: 'workspace.created', actor: by, subject: tx.workspace });
  }
}

/** The developer of that name, made on first use. The first of a workspace is its admin; joining makes nobody else one. */
export async function ensureDeveloper(tx: Tx, name: string, by: string): Promise<DeveloperRow> {
  const known = await findDeveloper(tx.db, tx.workspace, { name });
  if (known) return known;
  await ensureWorkspace(tx, by);
  const developer: DeveloperRow = {
    workspace_id: tx.workspace,
    id: newId('dev', tx.now),
    name,
    role: (await firstDeveloper(tx.db, tx.workspace)) ? 'member' : 'admin',
    visibility: 'team',
    created_at: tx.now,
  };
  await insertRows(tx.db, 'developers', developer);
  tx.append({ category: 'work', kind: 'developer.joined', actor: by, subject: developer.id, payload: { role: developer.role } });
  return developer;
}

/** Whether a developer may run agents on the server's machine, with the rights of its user. Only the operator of the server says so. */
export async function setRunAgents(tx: Tx, developer: DeveloperRow, allowed: boolean, by: string): Promise<void> {
  const permission = { workspace_id: tx.workspace, developer_id: developer.id };
  const isNews = allowed
    ? await insertNewRow(tx.db, 'machine_permissions', { ...permission, given_at: tx.now, given_by: by })
    : (await deleteRows(tx.db, 'machine_permissions', permission)) > 0;
  if (isNews)
    tx.append({ category: 'audit', kind: allowed ? 'developer.run_agents_allowed' : 'developer.run_agents_withdrawn', actor: by, subject: developer.id });
}

/** The first of "claude-code 1", "claude-code 2", … that the developer has not used. */
export function defaultLabel(noun: string, taken: readonly string[]): string {
  const used = new Set(taken);
  for (let number = 1; ; number++) {
    const label = `${noun} ${number}`;
    if (!used.has(label)) return label;
  }
}

interface NewToken {
  kind: TokenKind;
  developerId: string | null;
  agentType?: string | undefined;
  instanceId?: string | undefined;
  label?: string | undefined;
  /** Null: it does not expire. Every maker of a token decides. */
  expiresAt: number | null;
  /** Of a dashboard session: what its page shows besides the cookie. */
  proofHash?: string;
  by: string;
  /** What it was made through, where that is to be found again. */
  madeBy?: string;
}

/** Mints a token with the grants of its profile. The value is returned once and never stored. */
export async function issueToken(tx: Tx, wanted: NewToken): Promise<{ value: string; token: TokenRow }> {
  const value = mintToken();
  const taken = await workspaceTokens(tx.db, tx.workspace, wanted.developerId ?? undefined);
  const label =
    wanted.label ??
    defaultLabel(
      wanted.agentType ?? wanted.kind,
      taken.map((token) => token.label),
    );
  const token: TokenRow = {
    workspace_id: tx.workspace,
    id: newId('tok', tx.now),
    hash: hashSecret(value),
    kind: wanted.kind,
    developer_id: wanted.developerId,
    agent_type: wanted.agentType ?? null,
    instance_id: wanted.instanceId ?? null,
    label,
    created_by: wanted.madeBy ?? wanted.by,
    created_at: tx.now,
    expires_at: wanted.expiresAt,
    last_used_at: null,
    revoked_at: null,
    proof_hash: wanted.proofHash ?? null,
    previous_hash: null,
    previous_ends_at: null,
  };
  await insertRows(tx.db, 'tokens', token);
  tx.append({
    category: 'work',
    kind: 'token.created',
    actor: wanted.by,
    subject: token.id,
    payload: { kind: token.kind, developer_id: token.developer_id, agent_type: token.agent_type, instance_id: token.instance_id },
  });
  await giveProfile(tx, token.kind, `token:${token.id}`, wanted.by);
  return { value, token };
}

const DAY_MS = 24 * 3_600_000;

/** When an agent's token made now expires, unless its maker says otherwise. */
export const agentTokenExpiry = (now: number, { agent_token_days: days }: Pick<IdentityLimits, 'agent_token_days'>): number | null =>
  days === 0 ? null : now + days * DAY_MS;

interface Rotation {
  /** Until then the secret that is replaced is accepted too. */
  readonly oldEndsAt: number;
  readonly expiresAt: number | null;
  readonly by: string;
}

/** Replaces the secret and leaves everything that goes by the token's id as it is. A secret of an earlier rotation ends at once. */
export async function rotateToken(tx: Tx, token: TokenRow, { oldEndsAt, expiresAt, by }: Rotation): Promise<string> {
  const value = mintToken();
  await changeRows(
    tx.db,
    'tokens',
    { workspace_id: tx.workspace, id: token.id },
    {
      hash: hashSecret(value),
      previous_hash: token.hash,
      previous_ends_at: oldEndsAt,
      expires_at: expiresAt,
    },
  );
  tx.append({
    category: 'work',
    kind: 'token.rotated',
    actor: by,
    subject: token.id,
    payload: { kind: token.kind, developer_id: token.developer_id, old_ends_at: oldEndsAt, expires_at: expiresAt },
  });
  return value;
}

/** Ends every dashboard session of a developer, and the links by which another could begin. Returns how many sessions ended. */
export async function signOutEverywhere(tx: Tx, developer: DeveloperRow, by: string): Promise<number> {
  const sessions = await liveWebTokens(tx.db, tx.workspace, developer.id, tx.now);
  for (const session of sessions) await endToken(tx, session, by);
  await deleteRows(tx.db, 'signin_links', { workspace_id: tx.workspace, developer_id: developer.id, used_at: null });
  tx.append({ category: 'audit', kind: 'developer.signed_out', actor: by, subject: developer.id, payload: { sessions: sessions.length } });
  return sessions.length;
}

/** Since when it is of no use: it may have been ended before. */
export async function endToken(tx: Tx, token: TokenRow, by: string): Promise<number> {
  if (token.revoked_at !== null) return token.revoked_at;
  await changeRows(tx.db, 'tokens', { workspace_id: tx.workspace, id: token.id }, { revoked_at: tx.now });
  tx.append({ category: 'work', kind: 'token.revoked', actor: by, subject: token.id, payload: { kind: token.kind, developer_id: token.developer_id } });
  return tx.now;
}

/** A token by which one instance acts as itself, for the developer that it works for. */
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

/** Every one of the workspace that stands, or every one but those by which people are signed in. */
export async function endAllTokens(tx: Tx, by: string, { web }: { readonly web: boolean }): Promise<number> {
  const standing = (await workspaceTokens(tx.db, tx.workspace)).filter(({ revoked_at, kind }) => revoked_at === null && (web || kind !== 'web'));
  for (const token of standing) await endToken(tx, token, by);
  return standing.length;
}

export async function endTokenById(tx: Tx, id: string, by: string): Promise<void> {
  const token = await findRow(tx.db, 'tokens', { workspace_id: tx.workspace, id });
  if (token) await endToken(tx, token, by);
}

/** For whom an instance works that this caller starts: themselves, or the first developer where the operator starts it. */
export const workingFor = async (tx: Tx, callerDeveloperId: string | null): Promise<string | null> =>
  callerDeveloperId ?? (await firstDeveloper(tx.db, tx.workspace))?.id ?? null;

export async function requireDeveloper(tx: Pick<Tx, 'db' | 'workspace'>, name: string): Promise<DeveloperRow> {
  const developer = await findDeveloper(tx.db, tx.workspace, { name });
  if (!developer) {
    throw notFound('DEVELOPER_NOT_FOUND', `There is no developer ${JSON.stringify(name)}.`, `covenant tokens create --developer NAME makes one.`, 'developer');
  }
  return developer;
}

/** Whom a caller means: themselves, or anybody where an operator names them. */
export async function knownDeveloper(tx: Tx, named: string | undefined, { principal }: WriteContext): Promise<DeveloperRow> {
  if (named && named !== principal.developerName) {
    if (!principal.operator)
      throw new Refusal('NOT_YOURS', 'You can do this for yourself only.', 'Leave developer out, or ask the operator.', { field: 'developer' });
    return await requireDeveloper(tx, named);
  }
  const self = principal.developerId && (await findDeveloper(tx.db, tx.workspace, { id: principal.developerId }));
  if (!self)
    throw new Refusal('INVALID_INPUT', 'developer: is required, because the operator is no developer.', 'Name the developer: --developer NAME.', {
      field: 'developer',
    });
  return self;
}

export interface RevivedToken {
  readonly token: StoredToken;
  readonly why: 'revoked' | 'expired' | 'replaced' | 'unknown';
}

/** Tokens of a backup that would let somebody in who cannot come in now. Without anything to compare with that is every one. */
export function revivedTokens(backup: readonly StoredToken[], current: readonly StoredToken[] | undefined, now: number): RevivedToken[] {
  const known = new Map(current?.map((token) => [`${token.workspace_id} ${token.id}`, token]));
  return backup.flatMap((token) => {
    if (endOf(token, now) !== undefined) return [];
    const standing = known.get(`${token.workspace_id} ${token.id}`);
    const why =
      standing === undefined
        ? 'unknown'
        : (endOf(standing, now) ??
          (hasSameSecrets(token, standing, now) && isSameHolder(token, standing) && !endsLater(token, standing) ? undefined : 'replaced'));
    return why === undefined ? [] : [{ token, why }];
  });
}

/** Also the secret that a rotation has replaced, while it still works. */
const hasSameSecrets = (token: StoredToken, standing: StoredToken, now: number): boolean =>
  token.hash === standing.hash && [null, replacedSecret(standing, now)].includes(replacedSecret(token, now));

/** The file may have been altered: the secret that somebody has must not be another's by it. */
const isSameHolder = (token: StoredToken, standing: StoredToken): boolean =>
  (['kind', 'developer_id', 'agent_type', 'instance_id'] as const).every((column) => (token[column] ?? null) === (standing[column] ?? null));

const endsLater = (token: StoredToken, standing: StoredToken): boolean =>
  (token.expires_at ?? Number.POSITIVE_INFINITY) > (standing.expires_at ?? Number.POSITIVE_INFINITY);

const replacedSecret = ({ previous_hash, previous_ends_at }: StoredToken, now: number): string | null =>
  now < (previous_ends_at ?? 0) ? (previous_hash ?? null) : null;

/** Sign-in links and device codes of a backup are somebody's open doors: they go with every restore. */
export async function endRevived(store: Pick<Store, 'reader' | 'write'>, revived: readonly RevivedToken[]): Promise<void> {
  const workspaces = await store.reader.selectFrom('workspaces').select('id').execute();
  const ids = new Set([...workspaces.map(({ id }) => id), ...revived.map(({ token }) => token.workspace_id)]);
  for (const workspace of ids) {
    await store.write(workspace, async (tx) => {
      for (const { token } of revived) if (token.workspace_id === workspace) await endTokenById(tx, token.id, 'operator');
      await deleteRows(tx.db, 'signin_links', { workspace_id: workspace });
    });
  }
  // A request that nobody has approved yet is of no workspace.
  await store.write(DEFAULT_WORKSPACE_ID, ({ db }) => deleteRows(db, 'device_grants', { status: ['pending', 'approved'] }));
}

import type { House, Principal, PrincipalKind } from '../../kernel/context.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { Ports } from '../../kernel/ports.ts';
import { DEFAULT_WORKSPACE_ID, workspaceId } from '../../kernel/workspace.ts';
import { findTokenByHash, setTokenUsed, type TokenWithDeveloper, workspaceExists } from './store.ts';
import { hashSecret, isToken, sameHash } from './token.ts';

/** How the credential came. The browser's cookie opens no other door, and a token is no cookie. */
export type Door = 'bearer' | 'cookie';

export type Rejection = 'missing' | 'malformed' | 'unknown' | 'revoked' | 'expired' | 'wrong-door';
export type Authentication = { principal: Principal } | { rejected: Rejection };

/** "Last used" is for people: to the minute is enough, and spares a write per call. */
const LAST_USED_GRAIN_MS = 60_000;

export type Authenticate = (credential: string | undefined, door: Door) => Promise<Authentication>;

export function createAuthenticate(house: House): Authenticate {
  return async (credential, door) => {
    if (!credential) return { rejected: 'missing' };
    if (!isToken(credential)) return { rejected: 'malformed' };
    const hash = hashSecret(credential);
    const token = await house.store.access.get(`token ${hash}`, () => findTokenByHash(house.store.reader, hash));
    if (!token || !sameHash(token.hash, hash) || isStrayOperator(token)) return { rejected: 'unknown' };
    const now = house.clock.now();
    const end = endOf(token, now);
    if (end) return { rejected: end };
    if ((token.kind === 'web') !== (door === 'cookie')) return { rejected: 'wrong-door' };
    if (now - (token.last_used_at ?? 0) >= LAST_USED_GRAIN_MS) noteUse(house, token, now);
    return { principal: principalOf(token) };
  };
}

/** The operator is of the whole server, and so is their token: one in another workspace was put there by hand or by a file, and opens nothing. */
const isStrayOperator = ({ kind, workspace_id }: TokenWithDeveloper): boolean => kind === 'operator' && workspace_id !== DEFAULT_WORKSPACE_ID;

/** Why a token lets nobody in any more; undefined where it does. */
export function endOf({ revoked_at, expires_at }: Pick<TokenWithDeveloper, 'revoked_at' | 'expires_at'>, now: number): 'revoked' | 'expired' | undefined {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && now > expires_at ? 'expired' : undefined;
}

/** The operator may act in any workspace, by name; anybody else is in the one their token is of. */
export function createEnterWorkspace(house: House): Ports['enterWorkspace'] {
  return async (principal, name) => {
    if (principal.kind !== 'operator') throw new Refusal('OPERATOR_REQUIRED', 'Only the operator can name a workspace.', 'Use a token of that workspace.');
    const id = workspaceId(name);
    const exists = id === DEFAULT_WORKSPACE_ID || (await workspaceExists(house.store.reader, id));
    return { principal: { ...principal, workspace: id }, exists };
  };
}

function noteUse(house: House, token: TokenWithDeveloper, now: number): void {
  house.store
    .write(token.workspace_id, (tx) => setTokenUsed(tx.db, token.workspace_id, token.id, now))
    .catch((error) => house.log.warn('last use of a token not noted', { token: token.id, error }));
}

export function principalOf(token: TokenWithDeveloper): Principal {
  const kind: PrincipalKind = token.kind === 'web' ? 'developer' : token.kind;
  const subjects = [`token:${token.id}`];
  if (token.developer_id) subjects.push(`developer:${token.developer_id}`);
  if (token.instance_id) subjects.push(`instance:${token.instance_id}`);
  const web = token.kind === 'web';
  const operator = kind === 'operator' || (web && token.developer_role === 'admin');
  if (kind === 'operator') subjects.push('operator');
  return {
    kind,
    workspace: token.workspace_id,
    tokenId: token.id,
    developerId: token.developer_id,
    developerName: token.developer_name,
    agentType: token.agent_type,
    instanceId: token.instance_id,
    web,
    operator,
    actor: actorOf(kind, token),
    subjects,
  };
}

/** Ids, never names: a journal cannot be redacted afterwards. */
function actorOf(kind: PrincipalKind, token: TokenWithDeveloper): string {
  switch (kind) {
    case 'operator':
      return 'operator';
    case 'developer':
      return `developer:${token.developer_id}`;
    case 'agent':
      return `agent:${token.agent_type}@${token.developer_id}`;
    case 'instance':
      return `instance:${token.instance_id}`;
  }
}

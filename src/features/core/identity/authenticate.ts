import { hash, timingSafeEqual } from 'node:crypto';
import type { Principal, PrincipalKind, Services } from '../../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID, workspaceId } from '../../../kernel/ids.ts';
import type { Ports } from '../../../kernel/ports.ts';
import { Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, hasRow } from '../../../storage/rows.ts';
import type { TokenRow } from '../../../storage/schema-rows.ts';
import { SECRET_HASH, TOKEN_FORMAT } from './secrets.ts';
import { webSessionExpiry } from './signin.ts';
import { findTokenByHash, findTokenById, type TokenWithDeveloper } from './store.ts';
import { takeTicket } from './tickets.ts';
import type { IdentityLimits } from './tokens.ts';

/** How the credential was sent. The credential of a dashboard session is accepted only as a cookie, and a token only as a bearer token. */
type CredentialSource = 'bearer' | 'cookie';

/**
 * How a dashboard page proves that it comes from the server's own origin. A browser sends the cookie to every port of the host,
 * so any service on another port receives it too. So the page also sends a secret from its own storage. If the page cannot send a
 * header, it uses a one-time ticket instead.
 */
type PageProof = { readonly secret: string | undefined } | { readonly ticket: string | undefined; readonly path: string };

/** `rotated`: the secret was replaced and its overlap has ended. `unproven`: a cookie without its page proof. */
type CredentialRejection = 'missing' | 'malformed' | 'unknown' | 'revoked' | 'expired' | 'rotated' | 'wrong-door' | 'unproven';
export type Authentication = { principal: Principal } | { rejected: CredentialRejection };

/** Authenticates a credential. `page` is required for a cookie. */
export type Authenticate = (credential: string | undefined, source: CredentialSource, page?: PageProof) => Promise<Authentication>;

/** The time of the last use is only shown to people. So it is stored at most once a minute, which saves a write for most calls. */
const LAST_USED_GRAIN_MS = 60_000;

export function createAuthenticate(services: Services, limits: Pick<IdentityLimits, 'session_idle_days'>): Authenticate {
  return async (credential, source, page) => {
    if (!credential) return { rejected: 'missing' };
    if (!TOKEN_FORMAT.test(credential)) return { rejected: 'malformed' };
    const credentialHash = hash(SECRET_HASH, credential);
    const token = await services.store.access.get(`token ${credentialHash}`, () => findTokenByHash(services.store.reader, credentialHash));
    if (!token || isStrayOperator(token)) return { rejected: 'unknown' };
    const now = services.clock.now();
    const end = tokenEnd(token, now) ?? secretEnd(token, credentialHash, now);
    if (end) return { rejected: end };
    if ((token.kind === 'web') !== (source === 'cookie')) return { rejected: 'wrong-door' };
    if (source === 'cookie' && !(await isProven(services, token, page))) return { rejected: 'unproven' };
    if (now - (token.last_used_at ?? 0) >= LAST_USED_GRAIN_MS) noteUse(services, token, now, limits);
    return { principal: principalOf(token) };
  };
}

/** The operator's token is stored in the default workspace. An operator token in another workspace came from a manual change or an import, and is refused. */
const isStrayOperator = ({ kind, workspace_id }: TokenWithDeveloper): boolean => kind === 'operator' && workspace_id !== DEFAULT_WORKSPACE_ID;

/** Returns why a token is not valid any more, or undefined if it is valid. */
export function tokenEnd({ revoked_at, expires_at }: Pick<TokenRow, 'revoked_at' | 'expires_at'>, now: number): 'revoked' | 'expired' | undefined {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && now > expires_at ? 'expired' : undefined;
}

/** A rotated token has two valid secrets until its overlap ends. */
function secretEnd(token: TokenWithDeveloper, credentialHash: string, now: number): 'unknown' | 'rotated' | undefined {
  if (sameHash(token.hash, credentialHash)) return undefined;
  if (token.previous_hash === null || !sameHash(token.previous_hash, credentialHash)) return 'unknown';
  return now < (token.previous_ends_at ?? 0) ? undefined : 'rotated';
}

async function isProven(services: Services, token: TokenWithDeveloper, page: PageProof | undefined): Promise<boolean> {
  if (!page) return false;
  if ('ticket' in page) return page.ticket !== undefined && (await takeTicket(services, token, page.ticket, page.path));
  return page.secret !== undefined && token.proof_hash !== null && sameHash(token.proof_hash, hash(SECRET_HASH, page.secret));
}

/** Compares two hashes in constant time, so that the duration reveals nothing about partial matches. */
export const sameHash = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

function noteUse(services: Services, token: TokenWithDeveloper, now: number, limits: Pick<IdentityLimits, 'session_idle_days'>): void {
  const used = { last_used_at: now, ...(token.kind === 'web' && { expires_at: webSessionExpiry(token.created_at, now, limits) }) };
  services.store
    .write(token.workspace_id, (tx) => changeRows(tx.db, 'tokens', { workspace_id: token.workspace_id, id: token.id }, used))
    .catch((error) => services.log.warn('last use of a token not noted', { token: token.id, error }));
}

/**
 * Returns the current principal of a dashboard session, or undefined if the session has ended. For connections that stay open
 * after a ticket admitted them.
 */
export type CurrentSession = (admitted: Principal) => Promise<Principal | undefined>;

export function createCurrentSession({ store, clock }: Services): CurrentSession {
  return async ({ workspace, tokenId }) => {
    const token = await store.access.get(`token id ${tokenId}`, () => findTokenById(store.reader, workspace, tokenId));
    return token && !tokenEnd(token, clock.now()) ? principalOf(token) : undefined;
  };
}

/** Whether the token is still accepted now, for a call that was authenticated with it earlier. */
export async function isTokenLive(db: Db, id: string, now: number): Promise<boolean> {
  const token = await findRow(db, 'tokens', { id });
  return token !== undefined && !tokenEnd(token, now);
}

/** The operator can name the workspace to act in. Everyone else acts in the workspace of their token. */
export function createEnterWorkspace(services: Services): Ports['enterWorkspace'] {
  return async (principal, name) => {
    if (principal.kind !== 'operator')
      throw new Refusal(
        'OPERATOR_REQUIRED',
        'Only the operator can name a workspace.',
        'Repeat the call without a workspace name, or with a token of that workspace.',
      );
    const id = workspaceId(name);
    const exists = id === DEFAULT_WORKSPACE_ID || (await hasRow(services.store.reader, 'workspaces', { id }));
    return { principal: { ...principal, workspace: id }, exists };
  };
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
    signedInAt: web ? token.created_at : null,
    operator,
    runsAgents: kind === 'operator' || (operator && token.runs_agents_since !== null),
    actor: actorOf(kind, token),
    subjects,
  };
}

/** The actor contains ids and never names, because events in the journal cannot be changed later. */
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

/** Returns the developer of the caller. A caller without a developer, such as the operator, is refused, because work must belong to a developer. */
export function callingDeveloper(principal: Principal): string {
  if (principal.developerId) return principal.developerId;
  throw new Refusal(
    'DEVELOPER_REQUIRED',
    'Only developers and their agents can make this call.',
    'Use a token made with `covenant tokens create --developer NAME`.',
  );
}

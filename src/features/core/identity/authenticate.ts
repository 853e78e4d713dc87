import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { CLIENT_NAMES } from '../../../clients/client.ts';
import type { Principal, PrincipalKind, Services } from '../../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID, workspaceId } from '../../../kernel/ids.ts';
import type { Ports } from '../../../kernel/ports.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { changeRows, deleteRows, hasRow, insertRows } from '../../../storage/rows.ts';
import type { TokenRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { findTokenByHash, findTokenById, type TokenWithDeveloper } from './store.ts';
import type { IdentityLimits } from './tokens.ts';

/** `web` is a browser's sign-in, carried by the cookie and accepted nowhere else. */
export type TokenKind = 'operator' | 'developer' | 'agent' | 'instance' | 'web';

export const agentType = z.enum(CLIENT_NAMES);

/** `cv_` + 32 random bytes. Shown once; only its hash is kept. */
export const mintToken = (): string => `cv_${randomBytes(32).toString('base64url')}`;
export const isToken = (text: string): boolean => /^cv_[A-Za-z0-9_-]{43}$/.test(text);

/** The secret of a sign-in link, of a page's proof or of a ticket: as long as a token, but not a token. */
export const mintSecret = (): string => randomBytes(32).toString('base64url');

export const hashSecret = (secret: string): string => hash('sha256', secret);

/** The index found the row by its hash; this comparison leaks nothing of how much of it fits. */
export const sameHash = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** How the credential came. The browser's cookie opens no other door, and a token is no cookie. */
type CredentialSource = 'bearer' | 'cookie';

/**
 * How the dashboard's page shows that it is of the server's own origin. A browser sends the cookie to every port of the host,
 * so whatever serves another port has it too. The secret is in the page's own storage; a ticket stands for it, once, where
 * the page can send no header.
 */
type PageProof = { readonly secret: string | undefined } | { readonly ticket: string | undefined; readonly path: string };

/** `rotated`: the secret was replaced, and its overlap is over. `unproven`: a cookie without its page's proof. */
type CredentialRejection = 'missing' | 'malformed' | 'unknown' | 'revoked' | 'expired' | 'rotated' | 'wrong-door' | 'unproven';
export type Authentication = { principal: Principal } | { rejected: CredentialRejection };

/** "Last used" is for people: to the minute is enough, and spares a write per call. */
const LAST_USED_GRAIN_MS = 60_000;

/** A cookie without `page` is refused. */
export type Authenticate = (credential: string | undefined, source: CredentialSource, page?: PageProof) => Promise<Authentication>;

export function createAuthenticate(services: Services, limits: Pick<IdentityLimits, 'session_idle_days'>): Authenticate {
  return async (credential, source, page) => {
    if (!credential) return { rejected: 'missing' };
    if (!isToken(credential)) return { rejected: 'malformed' };
    const hash = hashSecret(credential);
    const token = await services.store.access.get(`token ${hash}`, () => findTokenByHash(services.store.reader, hash));
    if (!token || isStrayOperator(token)) return { rejected: 'unknown' };
    const now = services.clock.now();
    const end = tokenEnd(token, now) ?? secretEnd(token, hash, now);
    if (end) return { rejected: end };
    if ((token.kind === 'web') !== (source === 'cookie')) return { rejected: 'wrong-door' };
    if (source === 'cookie' && !(await isProven(services, token, page))) return { rejected: 'unproven' };
    if (now - (token.last_used_at ?? 0) >= LAST_USED_GRAIN_MS) noteUse(services, token, now, limits);
    return { principal: principalOf(token) };
  };
}

/** As whom a dashboard session is known by now; undefined once it has ended. For what goes on after it was admitted by a ticket. */
export type CurrentSession = (admitted: Principal) => Promise<Principal | undefined>;

export function createCurrentSession({ store, clock }: Services): CurrentSession {
  return async ({ workspace, tokenId }) => {
    const token = await store.access.get(`token id ${tokenId}`, () => findTokenById(store.reader, workspace, tokenId));
    return token && !tokenEnd(token, clock.now()) ? principalOf(token) : undefined;
  };
}

/** A rotated token has two secrets until the overlap is over. */
function secretEnd(token: TokenWithDeveloper, hash: string, now: number): 'unknown' | 'rotated' | undefined {
  if (sameHash(token.hash, hash)) return undefined;
  if (token.previous_hash === null || !sameHash(token.previous_hash, hash)) return 'unknown';
  return now < (token.previous_ends_at ?? 0) ? undefined : 'rotated';
}

async function isProven(services: Services, token: TokenWithDeveloper, page: PageProof | undefined): Promise<boolean> {
  if (!page) return false;
  if ('ticket' in page) return page.ticket !== undefined && (await takeTicket(services, token, page.ticket, page.path));
  return page.secret !== undefined && token.proof_hash !== null && sameHash(token.proof_hash, hashSecret(page.secret));
}

export const TICKET_MS = 30_000;

/** Opens `path` once for the dashboard session of this token, within thirty seconds. */
export async function issueTicket(tx: Tx, tokenId: string, path: string): Promise<{ ticket: string; expiresAt: number }> {
  await deleteRows(tx.db, 'page_tickets', { workspace_id: tx.workspace, expires_at: { '<': tx.now } });
  const ticket = mintSecret();
  const expiresAt = tx.now + TICKET_MS;
  await insertRows(tx.db, 'page_tickets', { workspace_id: tx.workspace, hash: hashSecret(ticket), token_id: tokenId, path, expires_at: expiresAt });
  return { ticket, expiresAt };
}

/** A ticket that was shown is gone, also where it was shown at another address or by another session. */
async function takeTicket(services: Services, token: Pick<TokenRow, 'id' | 'workspace_id'>, ticket: string, path: string): Promise<boolean> {
  // Deleted as it is read: of two that show it at the same time, one gets it.
  const row = await services.store.write(token.workspace_id, ({ db }) =>
    db.deleteFrom('page_tickets').where('hash', '=', hashSecret(ticket)).returningAll().executeTakeFirst(),
  );
  return (
    row !== undefined && row.workspace_id === token.workspace_id && row.token_id === token.id && row.path === path && services.clock.now() <= row.expires_at
  );
}

/** The operator is of the whole server, and so is their token: one in another workspace was put there by hand or by a file, and opens nothing. */
const isStrayOperator = ({ kind, workspace_id }: TokenWithDeveloper): boolean => kind === 'operator' && workspace_id !== DEFAULT_WORKSPACE_ID;

/** Why a token lets nobody in any more; undefined where it does. */
export function tokenEnd({ revoked_at, expires_at }: Pick<TokenWithDeveloper, 'revoked_at' | 'expires_at'>, now: number): 'revoked' | 'expired' | undefined {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && now > expires_at ? 'expired' : undefined;
}

/** The operator may act in any workspace, by name; anybody else is in the one their token is of. */
export function createEnterWorkspace(services: Services): Ports['enterWorkspace'] {
  return async (principal, name) => {
    if (principal.kind !== 'operator') throw new Refusal('OPERATOR_REQUIRED', 'Only the operator can name a workspace.', 'Use a token of that workspace.');
    const id = workspaceId(name);
    const exists = id === DEFAULT_WORKSPACE_ID || (await hasRow(services.store.reader, 'workspaces', { id }));
    return { principal: { ...principal, workspace: id }, exists };
  };
}

const DAY_MS = 24 * 3_600_000;
export const WEB_SESSION_MS = 30 * DAY_MS;

/** When a dashboard session ends that is used now and then no more. No use makes it last longer than thirty days. */
export const expiryAfterUse = (signedInAt: number, now: number, { session_idle_days: days }: Pick<IdentityLimits, 'session_idle_days'>): number =>
  Math.min(signedInAt + WEB_SESSION_MS, now + days * DAY_MS);

function noteUse(services: Services, token: TokenWithDeveloper, now: number, limits: Pick<IdentityLimits, 'session_idle_days'>): void {
  const used = { last_used_at: now, ...(token.kind === 'web' && { expires_at: expiryAfterUse(token.created_at, now, limits) }) };
  services.store
    .write(token.workspace_id, (tx) => changeRows(tx.db, 'tokens', { workspace_id: token.workspace_id, id: token.id }, used))
    .catch((error) => services.log.warn('last use of a token not noted', { token: token.id, error }));
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

/** Work belongs to somebody: a caller that is no developer, such as the operator, can own none. */
export function callingDeveloper(principal: Principal): string {
  if (principal.developerId) return principal.developerId;
  throw new Refusal(
    'DEVELOPER_REQUIRED',
    'This call is for developers and their agents.',
    'Call with a token made by `covenant tokens create --developer NAME`.',
  );
}

import { z } from 'zod';
import type { Principal, Services } from '../../../kernel/call.ts';
import { workspaceName } from '../../../kernel/ids.ts';
import { Refusal } from '../../../kernel/reply.ts';
import { changeRows, deleteRows, findRow, insertRows } from '../../../storage/rows.ts';
import type { DeveloperRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { hashSecret, mintSecret } from './secrets.ts';
import { findDeveloper } from './store.ts';
import { endTokenById, type IdentityLimits, issueToken } from './tokens.ts';

export const LINK_MS = 10 * 60_000;

/** Creates a one-time link. Its path contains the secret. The store contains only the hash. */
export async function makeSigninLink(tx: Tx, developer: DeveloperRow, by: string): Promise<{ path: string; expiresAt: number }> {
  // Expired links are not needed any more, because the journal records when links were created and used.
  await deleteRows(tx.db, 'signin_links', { workspace_id: tx.workspace, expires_at: { '<': tx.now } });
  const secret = mintSecret();
  const expiresAt = tx.now + LINK_MS;
  await insertRows(tx.db, 'signin_links', {
    workspace_id: tx.workspace,
    hash: hashSecret(secret),
    developer_id: developer.id,
    created_at: tx.now,
    expires_at: expiresAt,
    used_at: null,
  });
  tx.append({ category: 'audit', kind: 'signin.link_created', actor: by, subject: developer.id });
  return { path: `/signin/${secret}`, expiresAt };
}

/** The body of `POST /api/signin`. */
export const signInRequest = z.strictObject({
  code: z.string().min(1).max(200).describe('Code from the sign-in link.'),
  account: z.string().max(60).optional().describe('Id of the developer who last signed in with this browser.'),
  replace: z.boolean().default(false).describe('Sign in even if this browser is signed in to another account.'),
});
export type SignInRequest = z.input<typeof signInRequest>;

interface SignInSession {
  readonly cookie: string;
  /** The page stores this secret and sends it with every request that has the cookie. */
  readonly proof: string;
  readonly maxAgeSeconds: number;
  readonly developer: Pick<DeveloperRow, 'id' | 'name' | 'role'>;
  readonly workspace: string;
}

/** `browser`: the principal that the browser is currently signed in as. Its session ends when the new one starts. */
export type SignIn = (request: SignInRequest, browser?: Principal) => Promise<SignInSession>;

/** Uses up a sign-in link and starts a session for its developer. The answer must be the same for used, expired and invented links. */
export function createSignIn({ store, clock }: Services, limits: Pick<IdentityLimits, 'session_idle_days'>): SignIn {
  return async ({ code, account, replace = false }, browser) => {
    const hash = hashSecret(code);
    const link = await findRow(store.reader, 'signin_links', { hash });
    const developer = link && (await findDeveloper(store.reader, link.workspace_id, { id: link.developer_id }));
    if (!link || !developer || link.used_at !== null || clock.now() > link.expires_at) throw linkInvalid();
    const isOther = browser
      ? browser.developerId !== developer.id || browser.workspace !== link.workspace_id
      : account !== undefined && account !== developer.id;
    if (isOther && !replace) throw signedInAsAnother(browser, developer);
    const proof = mintSecret();
    const cookie = await store.write(link.workspace_id, async (tx) => {
      // If two people open the link at the same time, only one of them succeeds.
      const taken = await changeRows(tx.db, 'signin_links', { hash, used_at: null, expires_at: { '>=': tx.now } }, { used_at: tx.now });
      if (taken === 0) throw linkInvalid();
      const actor = `developer:${developer.id}`;
      const expiresAt = webSessionExpiry(tx.now, tx.now, limits);
      const { value } = await issueToken(tx, { kind: 'web', developerId: developer.id, expiresAt, proofHash: hashSecret(proof), by: actor });
      tx.append({ category: 'audit', kind: 'signin.completed', actor, subject: developer.id });
      return value;
    });
    // The browser stores only one cookie, so nobody can use its old session any more. The server ends that session.
    if (browser) await store.write(browser.workspace, (tx) => endTokenById(tx, browser.tokenId, browser.actor));
    const { id, name, role } = developer;
    return { cookie, proof, maxAgeSeconds: WEB_SESSION_MS / 1000, developer: { id, name, role }, workspace: workspaceName(link.workspace_id) };
  };
}

const DAY_MS = 24 * 3_600_000;
export const WEB_SESSION_MS = 30 * DAY_MS;

/** Returns when a dashboard session ends if nobody uses it after `now`. It ends thirty days after the sign-in at the latest. */
export const webSessionExpiry = (signedInAt: number, now: number, { session_idle_days: days }: Pick<IdentityLimits, 'session_idle_days'>): number =>
  Math.min(signedInAt + WEB_SESSION_MS, now + days * DAY_MS);

const linkInvalid = (): Refusal =>
  new Refusal(
    'SIGNIN_LINK_INVALID',
    'This sign-in link was already used or has expired.',
    'Run `covenant open` for a new link. A link works once, within ten minutes.',
  );

const signedInAsAnother = (browser: Principal | undefined, { name, workspace_id }: DeveloperRow): Refusal => {
  const to = workspaceName(workspace_id);
  const signedInAs = browser ? { developer: browser.developerName, workspace: workspaceName(browser.workspace) } : null;
  const other = signedInAs
    ? `is signed in as ${JSON.stringify(signedInAs.developer)} of workspace ${signedInAs.workspace}`
    : 'was last used with another account';
  return new Refusal(
    'SIGNED_IN_AS_ANOTHER',
    `This link signs you in as ${JSON.stringify(name)} of workspace ${to}, but this browser ${other}. The link was not used.`,
    'If you expected this link, repeat the request with `"replace": true` to switch accounts. Otherwise do not use it.',
    { link_for: { developer: name, workspace: to }, signed_in_as: signedInAs },
  );
};

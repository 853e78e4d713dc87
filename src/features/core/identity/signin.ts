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

/** A link that works once: the secret is in its path, its hash in the store. */
export async function makeSigninLink(tx: Tx, developer: DeveloperRow, by: string): Promise<{ path: string; expiresAt: number }> {
  // A link that can no longer be used is of no interest: the journal has its making and use.
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
  code: z.string().min(1).max(200).describe('The last part of the sign-in link.'),
  account: z.string().max(60).optional().describe('The id of the developer whose account this browser had last.'),
  replace: z.boolean().default(false).describe('Sign in although this browser is signed in to another account.'),
});
export type SignInRequest = z.input<typeof signInRequest>;

interface SignInSession {
  readonly cookie: string;
  /** The page keeps this secret and sends it with every request that has the cookie. */
  readonly proof: string;
  readonly maxAgeSeconds: number;
  readonly developer: Pick<DeveloperRow, 'id' | 'name' | 'role'>;
  readonly workspace: string;
}

/** `browser`: as whom the browser is signed in by now, if it is. Its session ends when another takes its place. */
export type SignIn = (request: SignInRequest, browser?: Principal) => Promise<SignInSession>;

/** Takes the link and begins a session for its developer. A used, an expired and an invented link read the same. */
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
      // Of two visitors at the same time, one gets in.
      const taken = await changeRows(tx.db, 'signin_links', { hash, used_at: null, expires_at: { '>=': tx.now } }, { used_at: tx.now });
      if (taken === 0) throw linkInvalid();
      const actor = `developer:${developer.id}`;
      const expiresAt = webSessionExpiry(tx.now, tx.now, limits);
      const { value } = await issueToken(tx, { kind: 'web', developerId: developer.id, expiresAt, proofHash: hashSecret(proof), by: actor });
      tx.append({ category: 'audit', kind: 'signin.completed', actor, subject: developer.id });
      return value;
    });
    // The browser keeps one cookie: nobody would come back to the session that it had.
    if (browser) await store.write(browser.workspace, (tx) => endTokenById(tx, browser.tokenId, browser.actor));
    const { id, name, role } = developer;
    return { cookie, proof, maxAgeSeconds: WEB_SESSION_MS / 1000, developer: { id, name, role }, workspace: workspaceName(link.workspace_id) };
  };
}

const DAY_MS = 24 * 3_600_000;
export const WEB_SESSION_MS = 30 * DAY_MS;

/** When a dashboard session ends if it is not used after `now`. No use makes it last longer than thirty days. */
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
  const other = signedInAs ? `is signed in as ${JSON.stringify(signedInAs.developer)} of workspace ${signedInAs.workspace}` : 'had another account last';
  return new Refusal(
    'SIGNED_IN_AS_ANOTHER',
    `This link signs you in as ${JSON.stringify(name)} of workspace ${to}, but this browser ${other}. The link was not used.`,
    'Send "replace": true to sign in as the other account. If you did not expect this link, leave it.',
    { link_for: { developer: name, workspace: to }, signed_in_as: signedInAs },
  );
};

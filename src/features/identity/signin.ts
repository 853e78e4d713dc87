import type { House } from '../../kernel/context.ts';
import type { Tx } from '../../storage/write.ts';
import { issueToken } from './people.ts';
import { deleteStaleSigninLinks, findSigninLink, insertSigninLink, takeSigninLink } from './store.ts';
import type { DeveloperRow } from './tables.ts';
import { hashSecret, mintSecret } from './token.ts';

export const LINK_MS = 10 * 60_000;
export const WEB_SESSION_MS = 30 * 24 * 3_600_000;

/** A link that works once: the secret is in its path, its hash in the store. */
export async function makeSigninLink(tx: Tx, developer: DeveloperRow, by: string): Promise<{ path: string; expiresAt: number }> {
  await deleteStaleSigninLinks(tx.db, tx.workspace, tx.now);
  const secret = mintSecret();
  const expiresAt = tx.now + LINK_MS;
  await insertSigninLink(tx.db, {
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

export type SignIn = (secret: string) => Promise<{ cookie: string; maxAgeSeconds: number } | undefined>;

/** The cookie for the link's developer, or nothing: a used, expired or invented link looks the same. */
export function createSignIn(house: House): SignIn {
  return async (secret) => {
    const hash = hashSecret(secret);
    const link = await findSigninLink(house.store.reader, hash);
    if (!link) return undefined;
    const issued = await house.store.write(link.workspace_id, async (tx) => {
      if (!(await takeSigninLink(tx.db, hash, tx.now))) return undefined;
      const actor = `developer:${link.developer_id}`;
      const { value } = await issueToken(tx, { kind: 'web', developerId: link.developer_id, label: undefined, expiresAt: tx.now + WEB_SESSION_MS, by: actor });
      tx.append({ category: 'audit', kind: 'signin.completed', actor, subject: link.developer_id });
      return value;
    });
    return issued === undefined ? undefined : { cookie: issued, maxAgeSeconds: WEB_SESSION_MS / 1000 };
  };
}

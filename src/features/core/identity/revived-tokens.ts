import { DEFAULT_WORKSPACE_ID } from '../../../kernel/ids.ts';
import type { Store } from '../../../storage/open.ts';
import type { StoredToken } from '../../../storage/restored-file.ts';
import { deleteRows } from '../../../storage/rows.ts';
import { tokenEnd } from './authenticate.ts';
import { endTokenById } from './tokens.ts';

export interface RevivedToken {
  readonly token: StoredToken;
  readonly why: 'revoked' | 'expired' | 'replaced' | 'unknown';
}

/** Tokens in a backup that would restore access removed after the backup. If `current` is undefined, returns all valid tokens. */
export function revivedTokens(backup: readonly StoredToken[], current: readonly StoredToken[] | undefined, now: number): RevivedToken[] {
  const known = new Map(current?.map((token) => [`${token.workspace_id} ${token.id}`, token]));
  return backup.flatMap((token) => {
    if (tokenEnd(token, now) !== undefined) return [];
    const standing = known.get(`${token.workspace_id} ${token.id}`);
    const why =
      standing === undefined
        ? 'unknown'
        : (tokenEnd(standing, now) ??
          (hasSameSecrets(token, standing, now) && isSameHolder(token, standing) && !endsLater(token, standing) ? undefined : 'replaced'));
    return why === undefined ? [] : [{ token, why }];
  });
}

/** Compares the current secrets and, if it is still accepted, the secret that the last rotation replaced. */
const hasSameSecrets = (token: StoredToken, standing: StoredToken, now: number): boolean =>
  token.hash === standing.hash && [null, replacedSecret(standing, now)].includes(replacedSecret(token, now));

/** Compares the owners, because someone may have changed the backup file so that the secret of one person gives access as another person. */
const isSameHolder = (token: StoredToken, standing: StoredToken): boolean =>
  (['kind', 'developer_id', 'agent_type', 'instance_id'] as const).every((column) => (token[column] ?? null) === (standing[column] ?? null));

const endsLater = (token: StoredToken, standing: StoredToken): boolean =>
  (token.expires_at ?? Number.POSITIVE_INFINITY) > (standing.expires_at ?? Number.POSITIVE_INFINITY);

const replacedSecret = ({ previous_hash, previous_ends_at }: StoredToken, now: number): string | null =>
  now < (previous_ends_at ?? 0) ? (previous_hash ?? null) : null;

/** Ends revived tokens. Also deletes the backup's sign-in links and open device requests, because each of them could still give somebody access. */
export async function endRevived(store: Pick<Store, 'reader' | 'write'>, revived: readonly RevivedToken[]): Promise<void> {
  const workspaces = await store.reader.selectFrom('workspaces').select('id').execute();
  const ids = new Set([...workspaces.map(({ id }) => id), ...revived.map(({ token }) => token.workspace_id)]);
  for (const workspace of ids) {
    await store.write(workspace, async (tx) => {
      for (const { token } of revived) if (token.workspace_id === workspace) await endTokenById(tx, token.id, 'operator');
      await deleteRows(tx.db, 'signin_links', { workspace_id: workspace });
    });
  }
  // Device requests are deleted separately, because a request that nobody has approved yet belongs to no workspace.
  await store.write(DEFAULT_WORKSPACE_ID, ({ db }) => deleteRows(db, 'device_grants', { status: ['pending', 'approved'] }));
}

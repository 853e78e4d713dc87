import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput } from '../../../kernel/reply.ts';
import { deleteRows, findRows, insertRows } from '../../../storage/rows.ts';
import type { RegisteredRepoRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type heartbeat, MAX_REGISTERED_REPOS, MAX_VERSION_CHARACTERS } from './contract.ts';

type Beat = Input<typeof heartbeat>;

/** Whether a heartbeat comes from the companion. Such a heartbeat must not deliver messages or renew claims, because no agent reads the reply. */
export const isOfMachine = ({ session_id, companion_version, registered_repos }: Beat): boolean =>
  session_id === undefined && (companion_version !== undefined || registered_repos !== undefined);

/** Refuses reports that are too large. */
export function checkBounds({ companion_version, registered_repos }: Beat): void {
  if (companion_version !== undefined && companion_version.length > MAX_VERSION_CHARACTERS) {
    throw invalidInput([{ field: 'companion_version', message: `has more than ${MAX_VERSION_CHARACTERS} characters` }]);
  }
  if (registered_repos !== undefined && registered_repos.length > MAX_REGISTERED_REPOS) {
    throw invalidInput([{ field: 'registered_repos', message: `has more than ${MAX_REGISTERED_REPOS} entries` }]);
  }
}

/** Records that the machine is alive and which repositories it watches. If the heartbeat contains no list, the stored list stays. */
export async function syncMachine(tx: Tx, ctx: WriteContext, developerId: string, { companion_version, registered_repos }: Beat): Promise<number | undefined> {
  const own = { workspace_id: tx.workspace, token_id: ctx.principal.tokenId };
  const machine = { ...own, developer_id: developerId, companion_version: companion_version ?? null, last_heartbeat_at: tx.now };
  // A heartbeat without a version does not delete the stored one. An agent with the same token may have sent it.
  const change = { last_heartbeat_at: tx.now, ...(companion_version === undefined ? {} : { companion_version }) };
  await tx.db
    .insertInto('machines')
    .values(machine)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'token_id']).doUpdateSet(change))
    .execute();
  if (!registered_repos) return undefined;
  const rows = registered_repos.map((entry, position): RegisteredRepoRow => {
    const { repo, path = null, branch = null } = typeof entry === 'string' ? { repo: entry } : entry;
    return { ...own, position, developer_id: developerId, repo, path, branch };
  });
  // Every heartbeat contains the list, but the list rarely changes, so it is written only if it differs.
  if (!sameRows(rows, await findRows(tx.db, 'registered_repos', own, { order: { position: 'asc' } }))) {
    await deleteRows(tx.db, 'registered_repos', own);
    await insertRows(tx.db, 'registered_repos', rows);
    record(tx, ctx, { category: 'work', kind: 'session.repos_synced', subject: `token:${own.token_id}`, payload: { registered_repos: rows.length } });
  }
  return rows.length;
}

const sameRows = (one: readonly RegisteredRepoRow[], other: readonly RegisteredRepoRow[]): boolean =>
  one.length === other.length && one.every((row, at) => row.repo === other[at]?.repo && row.path === other[at]?.path && row.branch === other[at]?.branch);

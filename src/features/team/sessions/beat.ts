import { record, type WriteContext } from '../../../kernel/context.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput } from '../../../kernel/input.ts';
import type { RegisteredRepoRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { BeatNews, heartbeat } from './contract.ts';
import { MAX_REGISTERED_REPOS, MAX_VERSION_CHARACTERS } from './limits.ts';
import { registeredRepos, replaceRegisteredRepos, saveMachine } from './store.ts';

/** Runs with every start and every heartbeat of an agent; what it gives becomes part of the answer. */
export type HeartbeatListener = (tx: Tx, ctx: WriteContext, beat: { sessionId: string | null }) => Promise<BeatNews>;

export async function newsFor(listeners: readonly HeartbeatListener[], tx: Tx, ctx: WriteContext, sessionId: string | null): Promise<BeatNews> {
  const news: BeatNews = {};
  for (const listener of listeners) Object.assign(news, await listener(tx, ctx, { sessionId }));
  return news;
}

type Beat = Input<typeof heartbeat>;

/** The companion's, which no agent reads: it must neither take in what waits for an agent, nor keep up the claims of one that is gone. */
export const isOfMachine = ({ session_id, companion_version, registered_repos }: Beat): boolean =>
  session_id === undefined && (companion_version !== undefined || registered_repos !== undefined);

/** What a machine says of itself is not to be trusted with our space. */
export function checkBounds({ companion_version, registered_repos }: Beat): void {
  if (companion_version !== undefined && companion_version.length > MAX_VERSION_CHARACTERS) {
    throw invalidInput([{ field: 'companion_version', message: `has more than ${MAX_VERSION_CHARACTERS} characters` }]);
  }
  if (registered_repos !== undefined && registered_repos.length > MAX_REGISTERED_REPOS) {
    throw invalidInput([{ field: 'registered_repos', message: `has more than ${MAX_REGISTERED_REPOS} entries` }]);
  }
}

/** The machine is alive, and watches these repositories and no others; where it names none at all, those it named before. */
export async function syncMachine(tx: Tx, ctx: WriteContext, developerId: string, { companion_version, registered_repos }: Beat): Promise<number | undefined> {
  const { tokenId } = ctx.principal;
  await saveMachine(tx.db, {
    workspace_id: tx.workspace,
    token_id: tokenId,
    developer_id: developerId,
    companion_version: companion_version ?? null,
    last_heartbeat_at: tx.now,
  });
  if (!registered_repos) return undefined;
  const rows = registered_repos.map((entry, position): RegisteredRepoRow => {
    const { repo, path = null, branch = null } = typeof entry === 'string' ? { repo: entry } : entry;
    return { workspace_id: tx.workspace, token_id: tokenId, position, developer_id: developerId, repo, path, branch };
  });
  // A machine sends its list every time; it seldom changes.
  if (!sameRows(rows, await registeredRepos(tx.db, tx.workspace, tokenId))) {
    await replaceRegisteredRepos(tx, tokenId, rows);
    record(tx, ctx, { category: 'work', kind: 'session.repos_synced', subject: `token:${tokenId}`, payload: { registered_repos: rows.length } });
  }
  return rows.length;
}

const sameRows = (one: readonly RegisteredRepoRow[], other: readonly RegisteredRepoRow[]): boolean =>
  one.length === other.length && one.every((row, at) => row.repo === other[at]?.repo && row.path === other[at]?.path && row.branch === other[at]?.branch);

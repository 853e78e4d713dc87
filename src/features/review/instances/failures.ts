import type { Principal } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { Ports } from '../../../kernel/ports.ts';
import type { Db } from '../../../storage/engine.ts';
import { eventsBy } from '../../../storage/journal.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { instancesShow } from './contract.ts';
import type { InstanceOutside } from './ports.ts';
import { findInstance } from './store.ts';

type Failure = Output<typeof instancesShow>['failures'][number];

const MAX_ITEMS = 20;
const GIT_MS = 5_000;

/** Returns the branch and commit of an instance at the time when a review tool failed. The journal stores them with the call. */
export const circumstancesOf =
  (reader: Db, disk: InstanceOutside['disk'], machine: string): NonNullable<Ports['circumstances']> =>
  async ({ workspace, instanceId }: Principal, { toolset }) => {
    const row = toolset === 'review' && instanceId !== null ? await findInstance(reader, workspace, instanceId) : undefined;
    if (!row) return undefined;
    const here = row.machine === machine;
    const commit = here ? await disk.resolveCommit(row.worktree_path, 'HEAD', { timeoutMs: GIT_MS }).catch(() => null) : null;
    return { branch: row.branch_name, ...(commit === null ? {} : { commit }) };
  };

interface FailedCallPayload {
  readonly code?: string;
  readonly request_id: string;
  readonly circumstances: { readonly branch: string; readonly commit?: string };
}

/** Returns failed calls of review tools, newest first. */
export async function failuresOf(db: Db, { workspace_id, id, created_at }: InstanceRow): Promise<Failure[]> {
  const rows = await eventsBy(db, workspace_id, `instance:${id}`)
    .select(['time', 'kind', 'payload'])
    .where('category', '=', 'usage')
    // An earlier instance whose start was undone may have had the same id.
    .where('time', '>=', created_at)
    .where('payload', 'like', '%"circumstances":{%')
    .orderBy('seq', 'desc')
    .limit(MAX_ITEMS)
    .execute();
  return rows.map(({ time, kind, payload }) => {
    const { code = null, request_id, circumstances } = JSON.parse(payload) as FailedCallPayload;
    return { time, tool: kind, code, request_id, branch: circumstances.branch, commit: circumstances.commit ?? null };
  });
}

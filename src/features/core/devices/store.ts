import type { Db } from '../../../storage/engine.ts';
import { changeRows, deleteRows, findRow, findRows, matching } from '../../../storage/rows.ts';
import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';

/** Finds the pending request with this code. A unique index ensures that there is at most one. */
export const findPending = (db: Db, userCode: string) => findRow(db, 'device_grants', { user_code: userCode, status: 'pending' });

/** Returns the addresses that sent open requests, each with the number of its requests and the expiry of the first one. */
export async function openSources(db: Db, now: number): Promise<{ source: string; requests: number; first_over: number }[]> {
  const rows = await db
    .selectFrom('device_grants')
    .select(({ fn }) => ['source', fn.countAll<number>().as('requests'), fn.min('expires_at').as('first_over')])
    .where('expires_at', '>', now)
    .groupBy('source')
    .execute();
  return rows.map(({ source, requests, first_over }) => ({ source, requests: Number(requests), first_over: Number(first_over) }));
}

/** Deletes the oldest pending request of one source. */
export async function deleteOldestOf(db: Db, source: string, now: number): Promise<void> {
  const waiting = { source, status: 'pending', expires_at: { '>': now } } as const;
  const oldest = await findRow(db, 'device_grants', waiting, { created_at: 'asc', id: 'asc' });
  if (oldest) await deleteRows(db, 'device_grants', { id: oldest.id });
}

export const waitingGrants = (db: Db, now: number, limit: number) =>
  findRows(db, 'device_grants', { expires_at: { '>=': now }, status: 'pending' }, { order: { created_at: 'asc' }, limit });

/** Changes a request if it still has the status `from`, and returns whether it did, so that only one of two simultaneous changes succeeds. */
export const changeGrant = async (db: Db, id: string, from: DeviceGrantRow['status'], change: Partial<DeviceGrantRow>): Promise<boolean> =>
  (await changeRows(db, 'device_grants', { id, status: from }, change)) > 0;

const SET_UP = ['approved', 'consumed'] as const;

/** Returns the devices of one developer, or of all developers if none is given. */
export const devicesOf = (db: Db, workspace: string, developerId?: string) =>
  matching(db, 'device_grants', { workspace_id: workspace, status: SET_UP, developer_id: developerId }).selectAll();

/** The value of `created_by` in the tokens of a device. */
export const makerOf = (deviceId: string): string => `device:${deviceId}`;

export const tokensOfDevices = (db: Db, workspace: string, ids: readonly string[]) =>
  findRows(db, 'tokens', { workspace_id: workspace, created_by: ids.map(makerOf) }, { order: { id: 'asc' } });

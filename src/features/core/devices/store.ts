import type { Db } from '../../../storage/engine.ts';
import { changeRows, deleteRows, findRow, findRows, matching } from '../../../storage/rows.ts';
import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';

/** The one that waits under this code; the index lets there be no other. */
export const findPending = (db: Db, userCode: string) => findRow(db, 'device_grants', { user_code: userCode, status: 'pending' });

/** The sources of the requests that are not over yet, and when the first of each is. */
export async function openSources(db: Db, now: number): Promise<{ source: string; requests: number; first_over: number }[]> {
  const rows = await db
    .selectFrom('device_grants')
    .select(({ fn }) => ['source', fn.countAll<number>().as('requests'), fn.min('expires_at').as('first_over')])
    .where('expires_at', '>', now)
    .groupBy('source')
    .execute();
  return rows.map(({ source, requests, first_over }) => ({ source, requests: Number(requests), first_over: Number(first_over) }));
}

/** Of the requests of one source that wait to be approved. */
export async function deleteOldestOf(db: Db, source: string, now: number): Promise<void> {
  const waiting = { source, status: 'pending', expires_at: { '>': now } } as const;
  const oldest = await findRow(db, 'device_grants', waiting, { created_at: 'asc', id: 'asc' });
  if (oldest) await deleteRows(db, 'device_grants', { id: oldest.id });
}

export const waitingGrants = (db: Db, now: number, limit: number) =>
  findRows(db, 'device_grants', { expires_at: { '>=': now }, status: 'pending' }, { order: { created_at: 'asc' }, limit });

/** False where it no longer has the status that the change is from: of two that change it at the same time, one does. */
export const changeGrant = async (db: Db, id: string, from: DeviceGrantRow['status'], change: Partial<DeviceGrantRow>): Promise<boolean> =>
  (await changeRows(db, 'device_grants', { id, status: from }, change)) > 0;

const SET_UP = ['approved', 'consumed'] as const;

/** Of one developer, where that is given. */
export const devicesOf = (db: Db, workspace: string, developerId?: string) =>
  matching(db, 'device_grants', { workspace_id: workspace, status: SET_UP, developer_id: developerId }).selectAll();

/** The maker of a device's tokens. */
export const makerOf = (deviceId: string): string => `device:${deviceId}`;

export const tokensOfDevices = (db: Db, workspace: string, ids: readonly string[]) =>
  findRows(db, 'tokens', { workspace_id: workspace, created_by: ids.map(makerOf) }, { order: { id: 'asc' } });

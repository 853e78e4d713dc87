import type { Db } from '../../../storage/engine.ts';
import { changeRows, deleteRows, findRow, findRows, matching } from '../../../storage/rows.ts';
import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';

/** The pending request with this code. A unique index allows only one. */
export const findPending = (db: Db, userCode: string) => findRow(db, 'device_grants', { user_code: userCode, status: 'pending' });

/** The sources of open requests, and when the first request of each source ends. */
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

/** False if the row did not have the status `from` any more, so that only one of two simultaneous changes succeeds. */
export const changeGrant = async (db: Db, id: string, from: DeviceGrantRow['status'], change: Partial<DeviceGrantRow>): Promise<boolean> =>
  (await changeRows(db, 'device_grants', { id, status: from }, change)) > 0;

const SET_UP = ['approved', 'consumed'] as const;

/** The devices of one developer, if given; otherwise of all. */
export const devicesOf = (db: Db, workspace: string, developerId?: string) =>
  matching(db, 'device_grants', { workspace_id: workspace, status: SET_UP, developer_id: developerId }).selectAll();

/** The maker recorded for a device's tokens. */
export const makerOf = (deviceId: string): string => `device:${deviceId}`;

export const tokensOfDevices = (db: Db, workspace: string, ids: readonly string[]) =>
  findRows(db, 'tokens', { workspace_id: workspace, created_by: ids.map(makerOf) }, { order: { id: 'asc' } });

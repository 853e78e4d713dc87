import type { Db } from '../../../storage/engine.ts';
import { findRow, insertRows } from '../../../storage/rows.ts';
import type { DeviceGrantRow } from '../../../storage/schema-rows.ts';
import { neverBrought, type RowRules } from '../../../storage/transfer/row-rules.ts';
import type { TokenRow } from '../identity/index.ts';

export const insertGrant = (db: Db, row: DeviceGrantRow) => insertRows(db, 'device_grants', row);

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
  const oldest = db.selectFrom('device_grants').select('id').where('source', '=', source).where('status', '=', 'pending').where('expires_at', '>', now);
  await db.deleteFrom('device_grants').where('id', 'in', oldest.orderBy('created_at').orderBy('id').limit(1)).execute();
}

export async function waitingGrants(db: Db, now: number, limit: number): Promise<DeviceGrantRow[]> {
  const pending = db.selectFrom('device_grants').selectAll().where('expires_at', '>=', now).where('status', '=', 'pending');
  return await pending.orderBy('created_at').limit(limit).execute();
}

/** False: somebody else has decided. */
export async function decide(db: Db, id: string, decision: Pick<DeviceGrantRow, 'status' | 'workspace_id' | 'developer_id' | 'decided_at'>): Promise<boolean> {
  const result = await db.updateTable('device_grants').set(decision).where('id', '=', id).where('status', '=', 'pending').executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Of two questions at the same time one gets the tokens. */
export async function consume(db: Db, id: string): Promise<boolean> {
  const result = await db.updateTable('device_grants').set({ status: 'consumed' }).where('id', '=', id).where('status', '=', 'approved').executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Approved, and not fetched yet: it gets nothing any more. */
export async function withdraw(db: Db, id: string, now: number): Promise<boolean> {
  const open = db.updateTable('device_grants').set({ status: 'denied', decided_at: now }).where('id', '=', id).where('status', '=', 'approved');
  return (await open.executeTakeFirst()).numUpdatedRows === 1n;
}

/** Requests that came to nothing. Those that did are the devices that people see. */
export async function deleteStale(db: Db, before: number): Promise<void> {
  await db.deleteFrom('device_grants').where('expires_at', '<', before).where('status', '!=', 'consumed').execute();
}

const SET_UP = ['approved', 'consumed'] as const;

export async function pageOfDevices(
  db: Db,
  workspace: string,
  { developerId, limit, offset }: { developerId: string | undefined; limit: number; offset: number },
): Promise<{ rows: DeviceGrantRow[]; total: number }> {
  let devices = db.selectFrom('device_grants').where('workspace_id', '=', workspace).where('status', 'in', SET_UP);
  if (developerId !== undefined) devices = devices.where('developer_id', '=', developerId);
  const rows = await devices.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  const { total } = await devices.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { rows, total: Number(total) };
}

export const devicesOf = (db: Db, workspace: string) =>
  db.selectFrom('device_grants').selectAll().where('workspace_id', '=', workspace).where('status', 'in', SET_UP);

/** By whom tokens were made that a device got. */
export const makerOf = (deviceId: string): string => `device:${deviceId}`;

export async function tokensOfDevices(db: Db, workspace: string, ids: readonly string[]): Promise<TokenRow[]> {
  if (ids.length === 0) return [];
  return await db.selectFrom('tokens').selectAll().where('workspace_id', '=', workspace).where('created_by', 'in', ids.map(makerOf)).orderBy('id').execute();
}

export const deviceRows = { device_grants: neverBrought('device_approvals') } satisfies Partial<RowRules>;

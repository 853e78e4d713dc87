import type { Db } from '../../../storage/engine.ts';
import type { SettingRow } from '../../../storage/schema-rows.ts';
import { DEFINITIONS, type SettingKey } from './definitions.ts';

export async function settingRows(db: Db, workspace: string): Promise<SettingRow[]> {
  return await db.selectFrom('settings').selectAll().where('workspace_id', '=', workspace).execute();
}

export async function saveSetting(db: Db, row: SettingRow): Promise<void> {
  const { value, updated_at, updated_by } = row;
  const key = ['workspace_id', 'key'] as const;
  await db
    .insertInto('settings')
    .values(row)
    .onConflict((oc) => oc.columns(key).doUpdateSet({ value, updated_at, updated_by }))
    .execute();
}

export async function clearSetting(db: Db, workspace: string, key: SettingKey): Promise<void> {
  await db.deleteFrom('settings').where('workspace_id', '=', workspace).where('key', '=', key).execute();
}

/** The bounds of a review loop. */
export interface ReviewLimits {
  readonly maxIterations: number;
  readonly autoAbandonAfter: number;
  readonly timeoutHours: number;
}

type Value<K extends SettingKey> = number | (typeof DEFINITIONS)[K]['default'];

export async function valuesOf(db: Db, workspace: string): Promise<<K extends SettingKey>(key: K) => Value<K>> {
  const rows = new Map((await settingRows(db, workspace)).map(({ key, value }) => [key, Number(value)]));
  return (key) => rows.get(key) ?? DEFINITIONS[key].default;
}

/** Whether an agent's edits wait where its hooks cannot ask. */
export async function failsClosed(db: Db, workspace: string): Promise<boolean> {
  return (await valuesOf(db, workspace))('hooks.fail_closed') === 1;
}

export async function reviewLimits(db: Db, workspace: string): Promise<ReviewLimits> {
  const setTo = await valuesOf(db, workspace);
  return {
    maxIterations: setTo('review.max_iterations'),
    autoAbandonAfter: setTo('review.auto_abandon_after'),
    timeoutHours: setTo('review.timeout_hours'),
  };
}

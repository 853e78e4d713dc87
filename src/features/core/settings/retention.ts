import type { Db } from '../../../storage/engine.ts';
import type { SettingKey } from './definitions.ts';
import { valuesOf } from './store.ts';

const DAY_MS = 24 * 3_600_000;

export const RETENTION = 'retention.days' satisfies SettingKey;

export const retentionMs = (days: number): number => days * DAY_MS;

/** How long a workspace keeps what is over; null: for good. */
export async function keptMs(db: Db, workspace: string): Promise<number | null> {
  const days = (await valuesOf(db, workspace))(RETENTION);
  return days === null ? null : retentionMs(days);
}

import type { Db } from '../../../storage/engine.ts';
import { findRows } from '../../../storage/rows.ts';
import { DEFINITIONS, type SettingKey } from './contract.ts';

export const storedSettings = (db: Db, workspace: string) => findRows(db, 'settings', { workspace_id: workspace });

/** The limits of a review loop. */
export interface ReviewLimits {
  readonly maxIterations: number;
  readonly autoAbandonAfter: number;
  readonly timeoutHours: number;
}

type Value<K extends SettingKey> = number | (typeof DEFINITIONS)[K]['default'];

/** Returns a function that looks up the workspace's value of a setting, or its default. */
export async function valuesOf(db: Db, workspace: string): Promise<<K extends SettingKey>(key: K) => Value<K>> {
  const rows = new Map((await storedSettings(db, workspace)).map(({ key, value }) => [key, Number(value)]));
  return (key) => rows.get(key) ?? DEFINITIONS[key].default;
}

/** Whether edits of agents are blocked while their hooks cannot reach the server. */
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

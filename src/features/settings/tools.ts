import { record, type WriteContext } from '../../kernel/context.ts';
import { invalidInput } from '../../kernel/input.ts';
import { ok } from '../../kernel/reply.ts';
import { type Implementation, implement } from '../../kernel/tool.ts';
import type { Tx } from '../../storage/write.ts';
import { hiding } from '../identity/index.ts';
import { type Setting, settingsList, settingsSet } from './contract.ts';
import { DEFINITIONS, type Definition, SETTING_KEYS, type SettingKey } from './definitions.ts';
import { clearSetting, saveSetting, settingRows } from './store.ts';
import type { SettingRow } from './tables.ts';

export const settingTools: Implementation[] = [
  implement(settingsList, {
    read: async (_input, { reader, workspace, principal }) => {
      const rows = await settingRows(reader, workspace);
      const hide = await hiding(reader, workspace, principal);
      return ok(hide({ items: SETTING_KEYS.map((key) => view(key, rows)) }));
    },
  }),
  implement(settingsSet, { write: async (tx, { key, value }, ctx) => ok(await change(tx, ctx, key, value)) }),
];

async function change(tx: Tx, ctx: WriteContext, key: SettingKey, value: number | null): Promise<Setting> {
  const before = view(key, await settingRows(tx.db, tx.workspace));
  if (value === null) await clearSetting(tx.db, tx.workspace, key);
  else {
    requireFit(DEFINITIONS[key], value);
    const row = { workspace_id: tx.workspace, key, value: String(value), updated_at: tx.now, updated_by: ctx.principal.actor };
    await saveSetting(tx.db, row);
  }
  const after = view(key, await settingRows(tx.db, tx.workspace));
  record(tx, ctx, {
    category: 'audit',
    kind: 'setting.changed',
    subject: key,
    payload: { before: before.value, after: after.value, is_default: after.is_default },
  });
  return after;
}

function requireFit({ min, max, whole }: Definition, value: number): void {
  if (value < min || value > max) throw invalidInput([{ field: 'value', message: `expected a number from ${min} to ${max}` }]);
  if (whole && !Number.isInteger(value)) throw invalidInput([{ field: 'value', message: 'expected a whole number' }]);
}

function view(key: SettingKey, rows: readonly SettingRow[]): Setting {
  const { title, default: usual, min, max } = DEFINITIONS[key];
  const own = rows.find((row) => row.key === key);
  const value = own ? Number(own.value) : usual;
  const changed = { updated_at: own?.updated_at ?? null, updated_by: own?.updated_by ?? null };
  return { key, title, value, default: usual, is_default: own === undefined, min, max, ...changed };
}

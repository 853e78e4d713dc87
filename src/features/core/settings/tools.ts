import { record, type WriteContext } from '../../../kernel/call.ts';
import type { Input } from '../../../kernel/contract.ts';
import { invalidInput, ok } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import { deleteRows, saveRows } from '../../../storage/rows.ts';
import type { SettingRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { valueRedactor } from '../identity/index.ts';
import { DEFINITIONS, SETTING_KEYS, type SettingDefinition, type SettingKey, type SettingView, settingsList, settingsSet } from './contract.ts';
import { storedSettings } from './store.ts';

export const settingTools: Implementation[] = [
  implement(settingsList, {
    read: async (_input, { reader, workspace, principal }) => {
      const rows = await storedSettings(reader, workspace);
      const hide = await valueRedactor(reader, workspace, principal);
      return ok(await hide({ items: SETTING_KEYS.map((key) => viewSetting(key, rows)) }));
    },
  }),
  implement(settingsSet, { write: async (tx, { key, value }, ctx) => ok(await changeSetting(tx, ctx, key, value)) }),
];

type SettingValue = Input<typeof settingsSet>['value'];

async function changeSetting(tx: Tx, ctx: WriteContext, key: SettingKey, value: SettingValue): Promise<SettingView> {
  const before = viewSetting(key, await storedSettings(tx.db, tx.workspace));
  if (value === null) await deleteRows(tx.db, 'settings', { workspace_id: tx.workspace, key });
  else {
    const row = { workspace_id: tx.workspace, key, value: String(checkedValue(DEFINITIONS[key], value)), updated_at: tx.now, updated_by: ctx.principal.actor };
    await saveRows(tx.db, 'settings', ['workspace_id', 'key'], row);
  }
  const after = viewSetting(key, await storedSettings(tx.db, tx.workspace));
  record(tx, ctx, {
    category: 'audit',
    kind: 'setting.changed',
    subject: key,
    payload: { before: before.value, after: after.value, is_default: after.is_default },
  });
  return after;
}

const POSITIONS = { on: 1, off: 0 } as const;

function checkedValue({ min, max, whole, switch: positions }: SettingDefinition, value: NonNullable<SettingValue>): number {
  const refuse = (message: string) => invalidInput([{ field: 'value', message }]);
  const number = positions && typeof value === 'string' ? POSITIONS[value] : value;
  if (positions && number !== 0 && number !== 1) throw refuse('expected on (1) or off (0)');
  if (typeof number === 'string' || number < min || number > max) throw refuse(`expected a number from ${min} to ${max}`);
  if (whole && !Number.isInteger(number)) throw refuse('expected a whole number');
  return number;
}

function viewSetting(key: SettingKey, rows: readonly SettingRow[]): SettingView {
  const { title, default: usual, min, max, switch: positions }: SettingDefinition = DEFINITIONS[key];
  const own = rows.find((row) => row.key === key);
  const value = own ? Number(own.value) : usual;
  const changed = { updated_at: own?.updated_at ?? null, updated_by: own?.updated_by ?? null };
  return { key, title, value, default: usual, is_default: own === undefined, min, max, switch: positions ?? null, ...changed };
}

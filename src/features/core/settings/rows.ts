import type { SettingRow } from '../../../storage/schema-rows.ts';
import { oneOf, type RowRules, rowRule } from '../../../storage/transfer/row-rules.ts';
import { DEFINITIONS, SETTING_KEYS, type SettingDefinition, type SettingKey } from './contract.ts';

export const settingRows = {
  settings: rowRule<SettingRow>({ key: oneOf(...SETTING_KEYS) }, (row) => {
    const { min, max, whole }: SettingDefinition = DEFINITIONS[row.key as SettingKey];
    const value = row.value === '' ? Number.NaN : Number(row.value);
    const isSound = value >= min && value <= max && (!whole || Number.isInteger(value));
    return isSound ? { row } : { wrong: `value: expected a number from ${min} to ${max}` };
  }),
} satisfies Partial<RowRules>;

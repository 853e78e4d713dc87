import { isAbsolute, normalize } from 'node:path';
import type { z } from 'zod';
import type { Database } from '../schema-rows.ts';
import type { LEFT_OUT, TransferRow, Value } from './layout.ts';

/** The server that imports. */
export interface ImportPlace {
  readonly now: number;
  /** When an agent's token that is made now ends; null: never. */
  readonly agentTokenEnd: number | null;
  /** Whether the server may touch a path (`[machine] repositories`). */
  isAllowed(path: string): boolean;
}

/**
 * What becomes of a row. `wrong` refuses the whole file. `leftOut` names a kind that is counted: the row itself where `row` is null, else the
 * part of it that does not come along.
 */
export type RowVerdict = { readonly row: TransferRow | null; readonly leftOut?: string } | { readonly wrong: string };
export type RowRule = (row: TransferRow, place: ImportPlace) => RowVerdict;

/** Every table has a rule: one without it does not compile. */
export type RowRules = Readonly<Record<Exclude<keyof Database, (typeof LEFT_OUT)[number]>, RowRule>>;

/** Returns the problem of a value, or undefined. */
export type ColumnCheck = (value: Value) => string | undefined;

/** A row's columns are checked one by one; `then` looks at the row as a whole. Columns that are not named are checked by what their names say. */
export function rowRule<T>(checks: { readonly [C in keyof T & string]?: ColumnCheck } = {}, then?: RowRule): RowRule {
  const named = checks as Readonly<Record<string, ColumnCheck | undefined>>;
  return (row, place) => {
    for (const [column, value] of Object.entries(row)) {
      const problem = (named[column] ?? byName(column))(value);
      if (problem !== undefined) return { wrong: `${column}: ${problem}` };
    }
    return then ? then(row, place) : { row };
  };
}

export const neverBrought =
  (kind: string): RowRule =>
  () => ({ row: null, leftOut: kind });

export const matches =
  (pattern: RegExp, expected: string): ColumnCheck =>
  (value) =>
    value === null || (typeof value === 'string' && pattern.test(value)) ? undefined : `expected ${expected}`;

/** `task_` and 26 digits, as `newId` makes them. */
export const idOf = (prefix: string): ColumnCheck => matches(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`), `an id such as ${prefix}_01J…`);
export const sha256: ColumnCheck = matches(/^[0-9a-f]{64}$/, '64 hexadecimal digits');
export const commit: ColumnCheck = matches(/^[0-9a-f]{40,64}$/, 'a commit');
export const flag: ColumnCheck = (value) => (value === 0 || value === 1 ? undefined : 'expected 0 or 1');
export const count: ColumnCheck = (value) => (value === null || (typeof value === 'number' && value >= 0) ? undefined : 'expected no negative number');

/** As git's check-ref-format has it; no option either. */
export const branch: ColumnCheck = (value) =>
  value === null || (typeof value === 'string' && value !== '' && !/^-|^@$|\.\.|@\{|[\p{Cc} ~^:?*[\\]|(^|\/)\.|\.lock(\/|$)|\.$|^\/|\/$|\/\//u.test(value))
    ? undefined
    : 'expected the name of a branch';

/** A path on this machine, where the server works with it. */
export const localPath: ColumnCheck = (value) =>
  value === null || (typeof value === 'string' && isAbsolute(value) && normalize(value) === value && !/\p{Cc}/u.test(value))
    ? undefined
    : 'expected an absolute path without detours';

/** As the contract's own schema has it, unchanged. */
export const fits =
  (schema: z.ZodType<string>): ColumnCheck =>
  (value) => {
    if (value === null) return undefined;
    const read = schema.safeParse(value);
    if (!read.success) return read.error.issues[0]?.message ?? 'not as expected';
    return read.data === value ? undefined : 'not as its feature writes it';
  };

export const oneOf =
  (...values: readonly string[]): ColumnCheck =>
  (value) =>
    value === null || values.includes(value as string) ? undefined : `expected one of ${values.join(', ')}`;

/** JSON that its feature can read. */
export const json =
  (schema: z.ZodType): ColumnCheck =>
  (value) => {
    if (value === null) return undefined;
    try {
      const { error } = schema.safeParse(JSON.parse(String(value)));
      if (!error) return undefined;
      const [issue] = error.issues;
      return `${issue?.path.join('.') || 'the JSON'}: ${issue?.message}`;
    } catch {
      return 'expected JSON';
    }
  };

const anyId = matches(/^[^\p{Cc}\p{Z}]{1,200}$/u, 'an id');

/** Ids and times are known by their names; other text is for people. */
function byName(column: string): ColumnCheck {
  if (column === 'id' || column.endsWith('_id')) return anyId;
  return column.endsWith('_at') ? count : () => undefined;
}

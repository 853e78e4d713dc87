import { isAbsolute, normalize } from 'node:path';
import type { z } from 'zod';
import type { Database } from '../schema-rows.ts';
import type { LEFT_OUT, TransferRow, Value } from './layout.ts';

/** What the rules must know about the server that imports the file. */
export interface ImportPlace {
  readonly now: number;
  /** When an agent token would expire if it were issued now. Null if it would never expire. */
  readonly agentTokenEnd: number | null;
  /** Whether the server may access a path (`[machine] repositories`). */
  isAllowed(path: string): boolean;
}

/**
 * Decides what happens to a row. If `wrong` is set, the whole file is refused. `leftOut` describes what is not imported, and these cases are counted: the
 * whole row if `row` is null, otherwise a part of the row.
 */
export type RowVerdict = { readonly row: TransferRow | null; readonly leftOut?: string } | { readonly wrong: string };
export type RowRule = (row: TransferRow, place: ImportPlace) => RowVerdict;

/** The rules for all tables. If a table has no rule, the code does not compile. */
export type RowRules = Readonly<Record<Exclude<keyof Database, (typeof LEFT_OUT)[number]>, RowRule>>;

/** Returns what is wrong with the value, or undefined if it is valid. */
export type ColumnCheck = (value: Value) => string | undefined;

/** Builds a rule that checks each column, and then the whole row with `then`. A column for which `checks` has no entry is checked by its name. */
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

/** Requires an id as `newId` creates it: the prefix, an underscore and 26 characters. */
export const idOf = (prefix: string): ColumnCheck => matches(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`), `an id such as ${prefix}_01J…`);
export const sha256: ColumnCheck = matches(/^[0-9a-f]{64}$/, '64 hexadecimal digits');
export const commit: ColumnCheck = matches(/^[0-9a-f]{40,64}$/, 'a commit');
export const flag: ColumnCheck = (value) => (value === 0 || value === 1 ? undefined : 'expected 0 or 1');
export const count: ColumnCheck = (value) => (value === null || (typeof value === 'number' && value >= 0) ? undefined : 'expected a number of at least 0');

/** Requires a valid branch name by the rules of `git check-ref-format`, without a leading dash. */
export const branch: ColumnCheck = (value) =>
  value === null || (typeof value === 'string' && value !== '' && !/^-|^@$|\.\.|@\{|[\p{Cc} ~^:?*[\\]|(^|\/)\.|\.lock(\/|$)|\.$|^\/|\/$|\/\//u.test(value))
    ? undefined
    : 'expected a branch name';

/** Requires an absolute, normalized path without control characters. */
export const localPath: ColumnCheck = (value) =>
  value === null || (typeof value === 'string' && isAbsolute(value) && normalize(value) === value && !/\p{Cc}/u.test(value))
    ? undefined
    : 'expected an absolute path without "." or ".."';

/** Requires a value that the schema from the contract accepts and does not change. */
export const fits =
  (schema: z.ZodType<string>): ColumnCheck =>
  (value) => {
    if (value === null) return undefined;
    const read = schema.safeParse(value);
    if (!read.success) return read.error.issues[0]?.message ?? 'invalid';
    return read.data === value ? undefined : 'not in the form that the server writes';
  };

export const oneOf =
  (...values: readonly string[]): ColumnCheck =>
  (value) =>
    value === null || values.includes(value as string) ? undefined : `expected one of ${values.join(', ')}`;

/** Requires JSON text that matches the schema. */
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

/** Chooses a check by the column's name: ids and times are checked, and any other text is accepted. */
function byName(column: string): ColumnCheck {
  if (column === 'id' || column.endsWith('_id')) return anyId;
  return column.endsWith('_at') ? count : () => undefined;
}

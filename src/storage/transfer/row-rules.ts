import { isAbsolute, normalize } from 'node:path';
import type { z } from 'zod';
import type { Database } from '../schema-rows.ts';
import type { LEFT_OUT, TransferRow, Value } from './layout.ts';

/** The server that imports. */
export interface ImportPlace {
  readonly now: number;
  /** When a token issued to an agent now would expire; null: never. */
  readonly agentTokenEnd: number | null;
  /** Whether the server may access a path (`[machine] repositories`). */
  isAllowed(path: string): boolean;
}

/**
 * What happens to a row. `wrong` refuses the whole file. `leftOut` names a counted kind: the row itself if `row` is null, otherwise the part that is
 * dropped.
 */
export type RowVerdict = { readonly row: TransferRow | null; readonly leftOut?: string } | { readonly wrong: string };
export type RowRule = (row: TransferRow, place: ImportPlace) => RowVerdict;

/** Every table has a rule: a table without one does not compile. */
export type RowRules = Readonly<Record<Exclude<keyof Database, (typeof LEFT_OUT)[number]>, RowRule>>;

/** Returns the problem of a value, or undefined. */
export type ColumnCheck = (value: Value) => string | undefined;

/** Checks a row's columns one by one; `then` checks the row as a whole. A column without a check is checked by the rule for its name. */
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

/** `task_` and 26 characters, the format of `newId`. */
export const idOf = (prefix: string): ColumnCheck => matches(new RegExp(`^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$`), `an id such as ${prefix}_01J…`);
export const sha256: ColumnCheck = matches(/^[0-9a-f]{64}$/, '64 hexadecimal digits');
export const commit: ColumnCheck = matches(/^[0-9a-f]{40,64}$/, 'a commit');
export const flag: ColumnCheck = (value) => (value === 0 || value === 1 ? undefined : 'expected 0 or 1');
export const count: ColumnCheck = (value) => (value === null || (typeof value === 'number' && value >= 0) ? undefined : 'expected a number of at least 0');

/** The rules of git's check-ref-format, and no leading dash. */
export const branch: ColumnCheck = (value) =>
  value === null || (typeof value === 'string' && value !== '' && !/^-|^@$|\.\.|@\{|[\p{Cc} ~^:?*[\\]|(^|\/)\.|\.lock(\/|$)|\.$|^\/|\/$|\/\//u.test(value))
    ? undefined
    : 'expected a branch name';

/** A path on this machine that the server works with. */
export const localPath: ColumnCheck = (value) =>
  value === null || (typeof value === 'string' && isAbsolute(value) && normalize(value) === value && !/\p{Cc}/u.test(value))
    ? undefined
    : 'expected an absolute path without "." or ".."';

/** The contract's own schema must accept the value and leave it unchanged. */
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

/** Ids and times are recognized by their column names; other text is free. */
function byName(column: string): ColumnCheck {
  if (column === 'id' || column.endsWith('_id')) return anyId;
  return column.endsWith('_at') ? count : () => undefined;
}

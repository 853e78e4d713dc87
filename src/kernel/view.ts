import type { z } from 'zod';

/** What a row does not have by the same name and of a type that fits. */
type Missing<View, Row> = { readonly [K in keyof View as K extends keyof Row ? (Row[K] extends View[K] ? never : K) : K]: View[K] };

/** What a schema shows of a row: each field from `more`, else the column of that name. */
export function viewOf<S extends z.ZodObject, Row extends object>(schema: S, row: Row, more: Missing<z.input<S>, Row> & Partial<z.input<S>>): z.input<S> {
  const all = { ...row, ...more } as Record<string, unknown>;
  return Object.fromEntries(Object.keys(schema.shape).map((field) => [field, all[field]])) as z.input<S>;
}

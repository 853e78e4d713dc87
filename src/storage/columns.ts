import type { z } from 'zod';

export type EventCategory = 'usage' | 'work' | 'feedback' | 'audit';
export const EVENT_CATEGORIES = ['usage', 'work', 'feedback', 'audit'] as const satisfies readonly EventCategory[];

/**
 * The portable column types: text, integer (booleans as 0 and 1), bigint epoch milliseconds, and JSON kept as text.
 * Both engines hand bigint back as a JavaScript number: times and counters stay far below 2^53.
 */
export type EpochMs = number;
/** JSON text; read it back through `readJson`, which checks it. */
export type JsonText = string;

export function readJson<T>(schema: z.ZodType<T>, text: JsonText): T {
  return schema.parse(JSON.parse(text));
}

/** The fields of a view that a row has under the same name: as they are, or as JSON text. */
type SameName<V, R> = {
  [F in keyof V & keyof R]: R[F] extends V[F] ? F : R[F] extends JsonText ? (V[F] extends object ? F : never) : never;
}[keyof V & keyof R];

/** A row as `schema` shows it: columns of the same name are copied, JSON read and checked; `rest` has all other fields, and those that differ from their columns. */
export function view<S extends Readonly<Record<string, z.ZodType>>, R extends object>(
  schema: z.ZodObject<S>,
  row: R,
  rest: Omit<z.output<z.ZodObject<S>>, SameName<z.output<z.ZodObject<S>>, R>> & Partial<z.output<z.ZodObject<S>>>,
): z.output<z.ZodObject<S>> {
  const shown: Record<string, unknown> = {};
  for (const [field, type] of Object.entries<z.ZodType>(schema.shape)) {
    const column = row[field as keyof R];
    if (field in rest) shown[field] = rest[field as keyof typeof rest];
    else if (typeof column === 'string' && ['array', 'object', 'record'].includes(type.type)) shown[field] = readJson(type, column);
    else if (column !== undefined) shown[field] = column;
  }
  return shown as z.output<z.ZodObject<S>>;
}

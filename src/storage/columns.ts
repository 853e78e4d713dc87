import { z } from 'zod';

/**
 * The portable column types: text, integer (booleans as 0 and 1), bigint epoch milliseconds, and JSON kept as text.
 * Both engines hand bigint back as a JavaScript number: times and counters stay far below 2^53.
 */
export type Flag = 0 | 1;
export type EpochMs = number;
/** JSON text; read it back through `readJson`, which checks it. */
export type JsonText = string;

export const flag = (value: boolean): Flag => (value ? 1 : 0);

export function readJson<T>(schema: z.ZodType<T>, text: JsonText): T {
  return schema.parse(JSON.parse(text));
}

export const jsonObject = z.record(z.string(), z.unknown());

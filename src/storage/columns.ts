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

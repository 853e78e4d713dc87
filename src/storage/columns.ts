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

/**
 * RFC 8785 canonical JSON: keys sorted by UTF-16 code unit, ECMAScript number and string forms, no white space.
 * Written here rather than imported because it runs for every event of every call; a property test holds it against
 * the `canonicalize` package.
 */
export function canonicalJson(value: unknown): string {
  // What has its keys in order already is canonical as the engine itself writes it, and several times faster.
  if (isOrdered(value)) {
    const text = JSON.stringify(value);
    if (!text.includes('\\ud')) return text;
  }
  return writeCanonical(value);
}

/** Whether every object in it lists its keys in canonical order, and nothing in it is more than JSON can say. */
function isOrdered(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' || typeof value === 'boolean' || value === null || Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isOrdered);
  let last = '';
  for (const key in value) {
    const inner = (value as Record<string, unknown>)[key];
    if (key < last || (inner !== undefined && !isOrdered(inner))) return false;
    last = key;
  }
  return true;
}

function writeCanonical(value: unknown): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('canonical JSON has no NaN or Infinity');
      return JSON.stringify(value);
    case 'object':
      return Array.isArray(value) ? arrayJson(value) : objectJson(value as Record<string, unknown>);
    default:
      throw new TypeError(`canonical JSON has no ${typeof value}`);
  }
}

function arrayJson(values: readonly unknown[]): string {
  return `[${values.map((value) => (value === undefined ? 'null' : writeCanonical(value))).join(',')}]`;
}

function objectJson(object: Record<string, unknown>): string {
  const keys = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort();
  return `{${keys.map((key) => `${quote(key)}:${writeCanonical(object[key])}`).join(',')}}`;
}

/** Half a surrogate pair has no canonical form; it becomes U+FFFD, as it would on its way into any UTF-8 store. */
function quote(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** Tokens of callers, of role sessions, and of locks: 48 hexadecimal digits are no hash's. */
const TOKENS = /(cv_)[A-Za-z0-9_-]{20,128}|(sess_)[0-9a-f]{20,128}|(?<![0-9a-f])[0-9a-f]{48}(?![0-9a-f])/g;

/**
 * The last line of defence for journal and log: no code writes a token there on purpose, but a caller may put one into a
 * path, a tool's name or a label, and a driver into the text of an error.
 */
export function withoutTokens(text: string): string {
  return text.replace(TOKENS, (_, caller = '', session = '') => `${caller}${session}[redacted]`);
}

/** Exactly one of ours. What merely begins like one, a variable's name say, is none. */
const EXACT = /cv_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])|sess_[0-9a-f]{48}(?![0-9a-f])|(?<![0-9a-f])[0-9a-f]{48}(?![0-9a-f])/;

export const hasToken = (text: string): boolean => EXACT.test(text);

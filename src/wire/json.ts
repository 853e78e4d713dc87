import { orNothing } from './or-nothing.ts';

/** Undefined if the text is not JSON: the parser's message would quote it. */
export const parseJson = (text: string): unknown => orNothing(() => JSON.parse(text));

/** Undefined unless it is an object; lists and null are not. */
export const recordOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

/** Like `recordOf`, but returns an empty object instead of undefined. */
export const recordIn = (value: unknown): Record<string, unknown> => recordOf(value) ?? {};

/** Undefined unless it is a non-blank text. */
export const stringOf = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value : undefined);

import { orNothing } from './or-nothing.ts';

/** Parses JSON. Returns undefined instead of throwing if the text is not JSON, because the error message would quote the text. */
export const parseJson = (text: string): unknown => orNothing(() => JSON.parse(text));

/** Returns the value if it is an object. Returns undefined for everything else, including lists and null. */
export const recordOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

/** Like `recordOf`, but returns an empty object instead of undefined. */
export const recordIn = (value: unknown): Record<string, unknown> => recordOf(value) ?? {};

/** Returns the value if it is a text that is not blank. Returns undefined for everything else. */
export const stringOf = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value : undefined);

import { orNothing } from './or-nothing.ts';

/** Undefined where the text is no JSON: the parser's message would quote what is there. */
export const parseJson = (text: string): unknown => orNothing(() => JSON.parse(text));

/** Undefined unless it is an object: no list, and not null. */
export const recordOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

/** The same, empty where there is none. */
export const recordIn = (value: unknown): Record<string, unknown> => recordOf(value) ?? {};

/** Undefined unless it is a text that is not blank. */
export const stringOf = (value: unknown): string | undefined => (typeof value === 'string' && value.trim() !== '' ? value : undefined);

import { isRecord } from '../../../kernel/registry.ts';
import { invalidInput } from '../../../kernel/reply.ts';

/** An object inside a payload, and its path for error messages. */
export interface UsagePlace {
  readonly path: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export const rootOf = (payload: Record<string, unknown>): UsagePlace => ({ path: 'payload', value: payload });

export function inside(place: UsagePlace | undefined, key: string): UsagePlace | undefined {
  const value = place?.value[key];
  return place && isRecord(value) ? { path: `${place.path}.${key}`, value } : undefined;
}

/** The objects of a list. Their paths contain their positions. */
export function each(place: UsagePlace | undefined, key: string): UsagePlace[] {
  const list = place?.value[key];
  if (!place || !Array.isArray(list)) return [];
  return list.flatMap((value, at) => (isRecord(value) ? [{ path: `${place.path}.${key}[${at}]`, value }] : []));
}

/** No real report contains more tokens, so a higher number is an error or abuse. The cost of this many tokens still fits into a column exactly. */
const MAX_TOKENS = 1e10;

export function wholeNumber(value: unknown, path: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS) return value;
  throw invalidInput([{ field: path, message: 'expected a whole number from 0 to 10^10' }]);
}

/** The value of the first counter in `names` that is present. */
export function counter(place: UsagePlace | undefined, ...names: readonly string[]): number | undefined {
  const name = names.find((each) => place?.value[each] !== undefined && place.value[each] !== null);
  return place && name !== undefined ? wholeNumber(place.value[name], `${place.path}.${name}`) : undefined;
}

const MAX_DOLLARS = 1e6;

export function dollars(place: UsagePlace | undefined, ...names: readonly string[]): number | undefined {
  const name = names.find((each) => place?.value[each] !== undefined && place.value[each] !== null);
  if (!place || name === undefined) return undefined;
  const value = place.value[name];
  if (typeof value === 'number' && value >= 0 && value <= MAX_DOLLARS) return value;
  throw invalidInput([{ field: `${place.path}.${name}`, message: 'expected dollars from 0 to 10^6' }]);
}

export const has = (place: UsagePlace | undefined, ...names: readonly string[]): boolean => names.some((name) => place?.value[name] !== undefined);

import { isDeepStrictEqual } from 'node:util';
import type { ItemEntry, MemberEntry } from '../../../clients/client.ts';
import { type Editor, isOwnKey, ownOf } from './entry.ts';
import { isContainer, jsonAt, type Path, removeJson, setJson } from './json-text.ts';

export const member: Editor<MemberEntry> = {
  state(text, { at, value, isDefault }, file) {
    const found = jsonAt(text, at, file);
    if (found === undefined) return 'missing';
    return isDefault || isDeepStrictEqual(ownIn(found), value) ? 'good' : 'stale';
  },
  put(text, { at, value }, file) {
    const was = jsonAt(text, at, file);
    const madeFrom = depthOf(text, at, file);
    if (!isRecord(was) || !isRecord(value)) return { text: setJson(text, at, value, file), madeFrom, ...(was !== undefined && { was }) };
    const outdated = Object.keys(ownOf(was)).filter((key) => !(key in value));
    const changed = Object.entries(value).filter(([key, each]) => !isDeepStrictEqual(was[key], each));
    const put = changed.reduce((so, [key, each]) => setJson(so, [...at, key], each, file), text);
    return { text: outdated.reduce((so, key) => removeJson(so, [...at, key], file), put), madeFrom, was: ownOf(was) };
  },
  take(text, { entry, was, madeFrom }, file) {
    const { at, value, isDefault } = entry;
    const found = jsonAt(text, at, file);
    if (found === undefined || isDefault) return text;
    if (!isDeepStrictEqual(ownIn(found), value)) return undefined;
    if (was !== undefined) return this.put(text, { ...entry, value: was }, file).text;
    if (isRecord(found) && !Object.keys(found).every(isOwnKey)) return undefined;
    return prune(removeJson(text, at, file), at.slice(0, -1), madeFrom ?? at.length, file);
  },
};

const isRecord = (value: unknown): value is Record<string, unknown> => isContainer(value) && !Array.isArray(value);

const ownIn = (found: unknown): unknown => (isRecord(found) ? ownOf(found) : found);

/** Returns how many steps of the path exist in the file. */
function depthOf(text: string, path: Path, file: string): number {
  const missing = path.findIndex((_, index) => jsonAt(text, path.slice(0, index + 1), file) === undefined);
  return missing === -1 ? path.length : missing;
}

/** Removes parents that setup created, if they are empty now. */
function prune(text: string, path: Path, madeFrom: number, file: string): string {
  const found = path.length > madeFrom ? jsonAt(text, path, file) : undefined;
  if (!isContainer(found) || Object.keys(found).length > 0) return text;
  return prune(removeJson(text, path, file), path.slice(0, -1), madeFrom, file);
}

export const item: Editor<ItemEntry> = {
  state(text, entry, file) {
    const { whole, mixed } = ours(text, entry, file);
    if (whole.length + mixed.length === 0) return 'missing';
    return this.put(text, entry, file).text === text ? 'good' : 'stale';
  },
  put(text, entry, file) {
    const madeFrom = depthOf(text, entry.list, file);
    const { whole, mixed } = ours(text, entry, file);
    const [first, ...doubled] = whole;
    // Elements with a higher index are removed first, so that the indexes of the others stay valid.
    const gone = [...doubled.map(({ index }) => [index]), ...mixed.map(({ index, hook }) => [index, 'hooks', hook])].toSorted(laterFirst);
    const at = [...entry.list, first?.index ?? listOf(text, entry, file).length];
    const put = withOwn(text, at, first?.value, entry.value, file);
    return { text: gone.reduce((so, path) => removeJson(so, [...entry.list, ...path], file), put), madeFrom };
  },
  take(text, { entry, madeFrom }, file) {
    const { whole, mixed } = ours(text, entry, file);
    const written = whole.find(({ value }) => isDeepStrictEqual(value, entry.value));
    if (!written) return whole.length + mixed.length === 0 ? text : undefined;
    return prune(removeJson(text, [...entry.list, written.index], file), entry.list, madeFrom ?? entry.list.length, file);
  },
};

/** The keys that define what a hook runs. Setup removes those that it does not set. All other keys that setup does not set belong to the person. */
const WAYS = ['type', 'command', 'url', 'headers', 'allowedEnvVars', 'hooks'];

/** Writes the keys of setup into an element of the list, or into a hook inside that element. Keys that a person added stay. */
function withOwn(text: string, at: Path, found: unknown, wanted: unknown, file: string): string {
  if (isDeepStrictEqual(found, wanted)) return text;
  if (!isRecord(found) || !isRecord(wanted)) return setJson(text, at, wanted, file);
  const put = Object.entries(wanted).reduce((so, [key, value]) => {
    const [is, way] = [found[key], [...at, key]];
    if (key !== 'hooks' || !Array.isArray(is) || !Array.isArray(value)) return isDeepStrictEqual(is, value) ? so : setJson(so, way, value, file);
    const first = withOwn(so, [...way, 0], is[0], value[0], file);
    return is.slice(1).reduceRight<string>((rest, _, index) => removeJson(rest, [...way, index + 1], file), first);
  }, text);
  return WAYS.filter((key) => key in found && !(key in wanted)).reduce((so, key) => removeJson(so, [...at, key], file), put);
}

const laterFirst = (a: readonly (string | number)[], b: readonly (string | number)[]) => Number(b[0]) - Number(a[0]) || Number(b[2] ?? 0) - Number(a[2] ?? 0);

/**
 * Finds our hooks in a list. `whole` contains the elements that consist only of
 * our hooks. `mixed` contains our hooks in elements that also contain other hooks.
 */
function ours(text: string, entry: ItemEntry, file: string) {
  const found = listOf(text, entry, file).map((value, index) => ({ value, index, isOurs: hooksIn(value).map((hook) => isOurs(hook, entry.ours)) }));
  const whole = found.filter(({ isOurs: each }) => each.length > 0 && each.every(Boolean));
  const mixed = found.filter((each) => !whole.includes(each));
  return { whole, mixed: mixed.flatMap(({ index, isOurs: each }) => each.flatMap((own, hook) => (own ? [{ index, hook }] : []))) };
}

const listOf = (text: string, { list }: ItemEntry, file: string): readonly unknown[] => {
  const value = jsonAt(text, list, file);
  return Array.isArray(value) ? value : [];
};

/** Returns the hooks of a group. A hook that is not in a group is returned as the only one. */
export function hooksIn(value: unknown): readonly unknown[] {
  const { hooks } = (value ?? {}) as { hooks?: unknown };
  return Array.isArray(hooks) ? hooks : [value];
}

export function isOurs(hook: unknown, pattern: string): boolean {
  const { command, url } = (hook ?? {}) as { command?: unknown; url?: unknown };
  return [command, url].some((said) => typeof said === 'string' && new RegExp(pattern).test(said));
}

import { isDeepStrictEqual } from 'node:util';
import { type Editor, isOwnKey, type MemberEntry, ownOf } from './entry.ts';
import { jsonIn, type Path, removeJson, setJson } from './json.ts';

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

export const isRecord = (value: unknown): value is Record<string, unknown> => isContainer(value) && !Array.isArray(value);

const ownIn = (found: unknown): unknown => (isRecord(found) ? ownOf(found) : found);

export function jsonAt(text: string, path: Path, file: string): unknown {
  return path.reduce<unknown>((value, step) => (isContainer(value) ? value[step] : undefined), jsonIn(text, file));
}

const isContainer = (value: unknown): value is Record<string | number, unknown> => typeof value === 'object' && value !== null;

/** How many steps of the path lead to something. */
export function depthOf(text: string, path: Path, file: string): number {
  const missing = path.findIndex((_, index) => jsonAt(text, path.slice(0, index + 1), file) === undefined);
  return missing === -1 ? path.length : missing;
}

/** Takes out what setup made on the way, where nothing else has been put into it. */
export function prune(text: string, path: Path, madeFrom: number, file: string): string {
  const found = path.length > madeFrom ? jsonAt(text, path, file) : undefined;
  if (!isContainer(found) || Object.keys(found).length > 0) return text;
  return prune(removeJson(text, path, file), path.slice(0, -1), madeFrom, file);
}

import { isDeepStrictEqual } from 'node:util';
import type { Editor, ItemEntry } from './entry.ts';
import { type Path, removeJson, setJson } from './json.ts';
import { depthOf, isRecord, jsonAt, prune } from './member.ts';

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
    // From the end, so that what is still to go keeps its place.
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

/** What says what a hook does. All else in there that setup does not set is the person's. */
const WAYS = ['type', 'command', 'url', 'headers', 'allowedEnvVars', 'hooks'];

/** Sets what is ours in an element, or in a hook of it. */
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

/** Elements that are ours, and hooks of ours that somebody has put beside their own. */
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

/** Of a group its hooks, and of a hook itself. */
export function hooksIn(value: unknown): readonly unknown[] {
  const { hooks } = (value ?? {}) as { hooks?: unknown };
  return Array.isArray(hooks) ? hooks : [value];
}

export function isOurs(hook: unknown, pattern: string): boolean {
  const { command, url } = (hook ?? {}) as { command?: unknown; url?: unknown };
  return [command, url].some((said) => typeof said === 'string' && new RegExp(pattern).test(said));
}

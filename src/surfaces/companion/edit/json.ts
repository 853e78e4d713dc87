import { isDeepStrictEqual } from 'node:util';
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { ItemEntry, MemberEntry } from '../../../clients/client.ts';
import { brokenFile, type Editor, isOwnKey, ownOf, positionOf } from './entry.ts';

/** How a file is written: what is put into it is to look like the rest. */
interface Layout {
  readonly eol: string;
  readonly unit: string;
}

export function layoutOf(text: string): Layout {
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit: /^( +|\t)[^\s*]/m.exec(text)?.[1] ?? '  ' };
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** Without what ends it. */
const restOfLine = (text: string, offset: number): string => /^[^\r\n]*/.exec(text.slice(offset))?.[0] ?? '';

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

function jsonAt(text: string, path: Path, file: string): unknown {
  return path.reduce<unknown>((value, step) => (isContainer(value) ? value[step] : undefined), jsonIn(text, file));
}

const isContainer = (value: unknown): value is Record<string | number, unknown> => typeof value === 'object' && value !== null;

/** How many steps of the path lead to something. */
function depthOf(text: string, path: Path, file: string): number {
  const missing = path.findIndex((_, index) => jsonAt(text, path.slice(0, index + 1), file) === undefined);
  return missing === -1 ? path.length : missing;
}

/** Takes out what setup made on the way, where nothing else has been put into it. */
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

/**
 * Edits of JSON and JSONC that leave every other byte as it is. The parser's own edits are not used: they format what stands around the
 * change, and lose comments behind the last element of a list.
 */
type Path = readonly (string | number)[];

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** The value of a whole file; undefined where there is none in it. */
export function jsonIn(text: string, file: string): unknown {
  const tree = treeOf(text, file);
  return tree && plain(tree);
}

/** Puts a value at a path, with all that leads there. Number: the index in a list; its length appends. */
function setJson(text: string, path: Path, value: unknown, file: string): string {
  const tree = treeOf(text, file);
  const layout = layoutOf(text);
  if (!tree) return `${text}${text === '' || text.endsWith('\n') ? '' : layout.eol}${written(nested(path, value), '', layout)}${layout.eol}`;
  let node = tree;
  for (const [depth, step] of path.entries()) {
    const wanted = typeof step === 'number' ? 'array' : 'object';
    if (node.type !== wanted) {
      const named = depth === 0 ? 'this' : JSON.stringify(path[depth - 1]);
      throw brokenFile(file, positionOf(text, node.offset), `${named} must be ${wanted === 'array' ? 'a list' : 'an object'}`);
    }
    const child = childOf(node, step);
    if (!child) return insert(text, node, step, nested(path.slice(depth + 1), value), layout);
    node = child;
  }
  const indent = /^\s*/.exec(text.slice(lineStart(text, node.offset), node.offset))?.[0] ?? '';
  return splice(text, node.offset, endOf(node), written(value, indent, layout));
}

/** Takes out a member or an element with its comma, and its line where nothing else stands on it. */
export function removeJson(text: string, path: Path, file: string): string {
  const tree = treeOf(text, file);
  const step = path.at(-1);
  const parent = tree && step !== undefined ? path.slice(0, -1).reduce<Node | undefined>((node, each) => node && childOf(node, each), tree) : undefined;
  const value = parent && step !== undefined ? childOf(parent, step) : undefined;
  if (!parent || !value) return text;
  const member = parent.type === 'object' ? (value.parent ?? value) : value;
  const siblings = parent.children ?? [];
  const previous = siblings[siblings.indexOf(member) - 1];
  const next = commaAfter(text, endOf(member), endOf(parent) - 1);
  const end = next ?? endOf(member);
  const start = lineStart(text, member.offset);
  const isAlone = /^\s*$/.test(text.slice(start, member.offset)) && /^[ \t]*\r?\n/.test(text.slice(end));
  const [from, to] = isAlone ? [start, text.indexOf('\n', end) + 1] : [member.offset, next === undefined ? end : end + blanksAt(text, end)];
  const without = splice(text, from, to, '');
  // The comma before the last one goes too, with the blanks that parted them.
  const comma = next === undefined && previous ? commaAfter(text, endOf(previous), member.offset) : undefined;
  return comma === undefined ? without : splice(without, comma - 1, isAlone || text.slice(comma, from).trim() !== '' ? comma : from, '');
}

function treeOf(whole: string, file: string): Node | undefined {
  const text = whole.startsWith('\uFEFF') ? ` ${whole.slice(1)}` : whole;
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error) throw brokenFile(file, positionOf(whole, error.offset), `it is not valid JSON (${printParseErrorCode(error.error)})`);
  return tree;
}

/** Of keys that are there twice the last counts, as it does for every parser. */
function childOf(node: Node, step: string | number): Node | undefined {
  if (typeof step === 'number') return node.type === 'array' ? node.children?.[step] : undefined;
  if (node.type !== 'object') return undefined;
  return node.children?.findLast(({ children }) => children?.[0]?.value === step)?.children?.[1];
}

function plain(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plain);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries((node.children ?? []).flatMap(({ children: [key, value] = [] }) => (key && value ? [[key.value, plain(value)]] : [])));
}

const nested = (path: Path, value: unknown): unknown =>
  path.reduceRight<unknown>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), value);

const endOf = ({ offset, length }: Node): number => offset + length;
const splice = (text: string, from: number, to: number, put: string): string => text.slice(0, from) + put + text.slice(to);
const blanksAt = (text: string, at: number): number => /^[ \t]*/.exec(text.slice(at))?.[0].length ?? 0;

const written = (value: unknown, indent: string, { eol, unit }: Layout): string => JSON.stringify(value, null, unit).replaceAll('\n', eol + indent);

function insert(text: string, parent: Node, step: string | number, value: unknown, layout: Layout): string {
  const key = typeof step === 'string' ? `${JSON.stringify(step)}: ` : '';
  const last = parent.children?.at(-1);
  const insertions = last
    ? afterLast(text, parent, last, (indent) => key + (indent === undefined ? JSON.stringify(value) : written(value, indent, layout)), layout)
    : [intoEmpty(text, parent, (indent) => key + written(value, indent, layout), layout)];
  return insertions.toSorted((a, b) => b.at - a.at).reduce((so, { at, text: put }) => splice(so, at, at, put), text);
}

/** On a line of its own where the last one has one, behind what is said of that; on the same line otherwise. A comma at the end stays there. */
function afterLast(text: string, parent: Node, last: Node, member: (indent?: string) => string, { eol }: Layout): Insertion[] {
  const comma = commaAfter(text, endOf(last), endOf(parent) - 1);
  const anchor = comma ?? endOf(last);
  const indent = text.slice(lineStart(text, last.offset), last.offset);
  const trailing = comma === undefined ? '' : ',';
  if (indent.trim() !== '') return [{ at: anchor, text: `${comma === undefined ? ',' : ''} ${member()}${trailing}` }];
  const rest = restOfLine(text, anchor);
  const own = {
    at: /^\s*(\/\/.*|(\/\*((?!\*\/).)*\*\/\s*)+)?$/.test(rest) ? anchor + rest.length : anchor,
    text: `${eol}${indent}${member(indent)}${trailing}`,
  };
  if (comma !== undefined) return [own];
  return own.at === anchor ? [{ ...own, text: `,${own.text}` }] : [own, { at: anchor, text: ',' }];
}

function intoEmpty(text: string, parent: Node, member: (indent: string) => string, { eol, unit }: Layout): Insertion {
  const outer = /^[ \t]*/.exec(text.slice(lineStart(text, parent.offset)))?.[0] ?? '';
  const close = endOf(parent) - 1;
  const line = lineStart(text, close);
  if (line > parent.offset && text.slice(line, close).trim() === '') return { at: line, text: `${outer}${unit}${member(outer + unit)}${eol}` };
  return { at: parent.offset + 1, text: `${eol}${outer}${unit}${member(outer + unit)}${eol}${outer}` };
}

/** The offset behind the comma that follows; comments may stand between. */
function commaAfter(text: string, from: number, to: number): number | undefined {
  const scanner = createScanner(text.slice(0, to), true);
  scanner.setPosition(from);
  scanner.scan();
  return text.slice(scanner.getTokenOffset(), scanner.getPosition()) === ',' ? scanner.getPosition() : undefined;
}

import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { brokenFile, positionOf } from './broken.ts';

/**
 * Edits JSON and JSONC, and leaves every other byte unchanged. The edit functions of the parser are not used, because they reformat the surrounding
 * text and lose comments after the last element of a list.
 */
export type Path = readonly (string | number)[];

/** Returns the value of the whole file, or undefined if the file is empty. */
export function jsonIn(text: string, file: string): unknown {
  const tree = treeOf(text, file);
  return tree && plain(tree);
}

export function jsonAt(text: string, path: Path, file: string): unknown {
  return path.reduce<unknown>((value, step) => (isContainer(value) ? value[step] : undefined), jsonIn(text, file));
}

export const isContainer = (value: unknown): value is Record<string | number, unknown> => typeof value === 'object' && value !== null;

/**
 * Sets the value at a path and creates missing parents. A number in the path is a
 * list index. If the index equals the length of the list, the value is appended.
 */
export function setJson(text: string, path: Path, value: unknown, file: string): string {
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

/** Removes an object member or a list element together with its comma. Also removes its line if nothing else is on that line. */
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
  // After the last member is removed, no comma may follow the previous member. So that comma and the blanks after it are removed too.
  const comma = next === undefined && previous ? commaAfter(text, endOf(previous), member.offset) : undefined;
  return comma === undefined ? without : splice(without, comma - 1, isAlone || text.slice(comma, from).trim() !== '' ? comma : from, '');
}

/** The line endings and the indentation of a file. Inserted text uses the same. */
interface Layout {
  readonly eol: string;
  readonly unit: string;
}

export function layoutOf(text: string): Layout {
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', unit: /^( +|\t)[^\s*]/m.exec(text)?.[1] ?? '  ' };
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** The rest of the line, without the line ending. */
const restOfLine = (text: string, offset: number): string => /^[^\r\n]*/.exec(text.slice(offset))?.[0] ?? '';

function treeOf(whole: string, file: string): Node | undefined {
  const text = whole.startsWith('\uFEFF') ? ` ${whole.slice(1)}` : whole;
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error) throw brokenFile(file, positionOf(whole, error.offset), `it is not valid JSON (${printParseErrorCode(error.error)})`);
  return tree;
}

/** Finds an object member by its key, or a list element by its index. If a key occurs twice, the last member counts, as in every JSON parser. */
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

interface Insertion {
  readonly at: number;
  readonly text: string;
}

function insert(text: string, parent: Node, step: string | number, value: unknown, layout: Layout): string {
  const key = typeof step === 'string' ? `${JSON.stringify(step)}: ` : '';
  const last = parent.children?.at(-1);
  const insertions = last
    ? afterLast(text, parent, last, (indent) => key + (indent === undefined ? JSON.stringify(value) : written(value, indent, layout)), layout)
    : [intoEmpty(text, parent, (indent) => key + written(value, indent, layout), layout)];
  return insertions.toSorted((a, b) => b.at - a.at).reduce((so, { at, text: put }) => splice(so, at, at, put), text);
}

/**
 * Appends an element after the last one. It gets a line of its own only if the last element has
 * one. A comment after the last element stays before the new element, and a trailing comma is kept.
 */
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

/** Returns the offset after the next comma. Comments may come before the comma. Returns undefined if something else comes first. */
function commaAfter(text: string, from: number, to: number): number | undefined {
  const scanner = createScanner(text.slice(0, to), true);
  scanner.setPosition(from);
  scanner.scan();
  return text.slice(scanner.getTokenOffset(), scanner.getPosition()) === ',' ? scanner.getPosition() : undefined;
}

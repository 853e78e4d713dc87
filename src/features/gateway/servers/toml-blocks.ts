import { parse } from 'smol-toml';
import { isRecord } from '../../../kernel/registry.ts';

export type Table = Record<string, unknown>;

/**
 * One table of a TOML text, with the lines of its keys. The TOML parser returns no line numbers, and it returns nothing if any part of the text has
 * a fault. With blocks, each table is parsed separately, and its faults are reported with their lines.
 */
export interface Block {
  /** The line of the table's header. For the part before the first header, this is 1. */
  readonly line: number;
  readonly header: readonly string[];
  /** The text of the file with all other tables blanked out, so that lines and columns are the same as in the whole file. */
  readonly text: string;
  /** Maps each key to its line. A key is a dotted path relative to the header. */
  readonly keys: ReadonlyMap<string, number>;
}

/** Splits a text into blocks. `item` is the header of a repeated table (`[[…]]`). Its subtables (`[….…]`) are part of its block. */
export function blocksOf(text: string, item: readonly string[]): Block[] {
  const lines = text.split('\n');
  const blockAt = (line: number, header: readonly string[]) => ({ line, header, keys: new Map<string, number>(), own: new Set<number>() });
  let block = blockAt(1, []);
  let latestItem: typeof block | undefined;
  const blocks = [block];
  /** The path, relative to the header of the block, of the table that the next keys belong to. */
  let under: readonly string[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = at + 1;
    const header = headerIn(lines[at] as string);
    const { end, value } = header ? { end: line, value: {} } : statementAt(lines, at);
    if (header && latestItem && header.path.length > item.length && item.every((part, place) => part === header.path[place])) {
      block = latestItem;
      under = header.path.slice(item.length);
      block.keys.set(under.join('.'), line);
    } else if (header) {
      block = blockAt(line, header.path);
      under = [];
      blocks.push(block);
      if (header.isItem && header.path.join('\0') === item.join('\0')) latestItem = block;
    }
    for (const path of pathsIn(value, under)) if (!block.keys.has(path)) block.keys.set(path, line);
    for (; at < end; at++) block.own.add(at);
  }
  return blocks.map(({ line, header, keys, own }) => {
    // The text stops at the end of the table, because the parser may report a fault at the end of the text.
    const shown = lines.slice(0, Math.max(-1, ...own) + 1).map((each, index) => (own.has(index) ? each : ''));
    return { line, header, keys, text: shown.join('\n') };
  });
}

export function tryParse(text: string): Table | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function headerIn(line: string): { path: string[]; isItem: boolean } | undefined {
  let inner: unknown = /^[ \t\uFEFF]*\[/.test(line) ? tryParse(line) : undefined;
  if (inner === undefined) return undefined;
  const path: string[] = [];
  for (; isRecord(inner) && Object.keys(inner).length > 0; inner = Object.values(inner)[0]) path.push(Object.keys(inner)[0] as string);
  return { path, isItem: Array.isArray(inner) };
}

/** Only values that begin like this can continue on the next line. */
const MAY_GO_ON = /=.*(?:\[|"""|''')/;
const MAX_LINES = 1_000;

/**
 * Finds the lines of a whole statement by parsing more and more lines. If nothing parses, returns only the first line, so that no other line is lost.
 */
function statementAt(lines: readonly string[], at: number): { end: number; value: Table } {
  const most = MAY_GO_ON.test(lines[at] as string) ? Math.min(lines.length, at + MAX_LINES) : at + 1;
  for (let end = at + 1; end <= most; end++) {
    const value = tryParse(lines.slice(at, end).join('\n'));
    if (value) return { end, value };
  }
  return { end: at + 1, value: {} };
}

/** The keys of a table and of its nested tables, as dotted paths. */
function pathsIn(value: Table, under: readonly string[]): string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...under, key];
    return [path.join('.'), ...(isRecord(inner) ? pathsIn(inner, path) : [])];
  });
}

/**
 * Where the tables and keys of a TOML text stand. The parser gives values without places, and nothing at all of a text that has a
 * fault anywhere; with this each table can be read on its own, and what is wrong in it be named by its line.
 */
export interface Block {
  /** Where its header stands; 1 for what comes before the first header. */
  readonly line: number;
  readonly header: readonly string[];
  /** The text with nothing but this table in it: lines and columns are those of the whole. */
  readonly text: string;
  /** The line of each key, as a dotted path below the header. */
  readonly keys: ReadonlyMap<string, number>;
}

interface Statement {
  readonly line: number;
  readonly path: readonly string[];
  readonly header: 'table' | 'item' | undefined;
}

/** `item`: the header of a table that is repeated (`[[…]]`); what is written below it as `[….…]` belongs to it. */
export function blocksOf(text: string, item: readonly string[]): Block[] {
  const lines = text.split('\n');
  const statements = statementsOf(text);
  const starts = statements.filter(({ header }) => header);
  const blocks: { line: number; header: readonly string[]; own: [from: number, to: number][]; keys: Map<string, number> }[] = [];
  const first = { line: 1, header: [] as readonly string[], own: [[1, (starts[0]?.line ?? lines.length + 1) - 1]] as [number, number][], keys: new Map() };
  blocks.push(first);
  let latest: (typeof blocks)[number] | undefined;
  for (const [index, { line, path, header }] of starts.entries()) {
    const span: [number, number] = [line, (starts[index + 1]?.line ?? lines.length + 1) - 1];
    const isItem = header === 'item' && path.join('\0') === item.join('\0');
    const below = path.length > item.length && item.every((part, place) => part === path[place]);
    if (latest && below) {
      latest.own.push(span);
      latest.keys.set(path.slice(item.length).join('.'), line);
    } else {
      blocks.push({ line, header: path, own: [span], keys: new Map() });
      if (isItem) latest = blocks.at(-1);
    }
  }
  for (const { line, path, header } of statements) {
    if (header) continue;
    const block = blocks.findLast(({ own }) => own.some(([from, to]) => from <= line && line <= to));
    const under = starts.findLast((start) => start.line <= line);
    const outer = block === first || !under ? [] : under.path.slice(block?.header.length);
    const full = [...outer, ...path];
    // A dotted key also makes the tables on its way.
    for (let length = 1; length <= full.length; length++) {
      const key = full.slice(0, length).join('.');
      if (block && !block.keys.has(key)) block.keys.set(key, line);
    }
  }
  return blocks.map(({ line, header, own, keys }) => ({ line, header, keys, text: only(lines, own) }));
}

/** Ends where the table ends, so that a fault found at the end is not placed behind it. */
const only = (lines: readonly string[], own: readonly [number, number][]): string =>
  lines
    .slice(0, own.at(-1)?.[1])
    .map((text, index) => (own.some(([from, to]) => from <= index + 1 && index + 1 <= to) ? text : ''))
    .join('\n');

const KEY = String.raw`(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')`;
const PATH = String.raw`${KEY}(?:[ \t]*\.[ \t]*${KEY})*`;
const HEADER = new RegExp(String.raw`(\[\[?)[ \t]*(${PATH})[ \t]*\]\]?`, 'y');
const ASSIGNMENT = new RegExp(String.raw`(${PATH})[ \t]*=`, 'y');
/** No value can look like this, so it is a header even where an array before it was never closed. */
const SURE_HEADER = /[ \t]*\[\[?[ \t]*(?!(?:true|false|inf|nan)[ \t]*\])[A-Za-z_][\w-]*(?:[ \t]*\.[ \t]*[A-Za-z_][\w-]*)*[ \t]*\]\]?[ \t]*(?:#.*)?\r?$/my;

function statementsOf(text: string): Statement[] {
  const found: Statement[] = [];
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const start = at + (/^[ \t\r\uFEFF]*/.exec(text.slice(at, at + 1000))?.[0].length ?? 0);
    const header = matchAt(HEADER, text, start);
    const key = header ? undefined : matchAt(ASSIGNMENT, text, start);
    if (header) found.push({ line, path: pathOf(header[2] as string), header: header[1] === '[[' ? 'item' : 'table' });
    if (key) found.push({ line, path: pathOf(key[1] as string), header: undefined });
    const end = key ? endOfValue(text, start + key[0].length) : lineEnd(text, start);
    for (let seen = at; seen < end; seen++) if (text[seen] === '\n') line++;
    at = end;
  }
  return found;
}

/** Behind the line end that ends the value. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at] as string;
    if (character === '"' || character === "'") {
      at = endOfString(text, at);
    } else if (character === '#') {
      at = lineEnd(text, at) - 1;
      if (text[at] !== '\n') return text.length;
    } else if (character === '\n') {
      if (depth <= 0 || matchAt(SURE_HEADER, text, at + 1)) return at + 1;
      at++;
    } else {
      if (character === '[' || character === '{') depth++;
      if (character === ']' || character === '}') depth--;
      at++;
    }
  }
  return text.length;
}

/** Of a string that is never closed, the end of its line: what follows must not be swallowed. */
function endOfString(text: string, from: number): number {
  const quote = text[from] as string;
  const long = quote.repeat(3);
  if (text.startsWith(long, from)) {
    for (let at = from + 3; at < text.length; at++) {
      if (quote === '"' && text[at] === '\\') at++;
      else if (text.startsWith(long, at)) {
        at += 3;
        // Up to two quotes may stand before the closing three.
        while (text[at] === quote) at++;
        return at;
      }
    }
    return lineEnd(text, from) - 1;
  }
  for (let at = from + 1; at < text.length && text[at] !== '\n'; at++) {
    if (quote === '"' && text[at] === '\\') at++;
    else if (text[at] === quote) return at + 1;
  }
  return Math.max(from + 1, lineEnd(text, from) - 1);
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end + 1;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

const pathOf = (dotted: string): string[] =>
  [...dotted.matchAll(new RegExp(KEY, 'g'))].map(([key]) => (key.startsWith('"') || key.startsWith("'") ? key.slice(1, -1) : key));

/** A header or a key with its value, as it stands in a TOML file: from the start of its first line to the end of its last. */
export interface Statement {
  readonly from: number;
  readonly to: number;
  readonly table?: readonly string[];
  readonly key?: string;
}

/** Only for a text that parses. Comments and blank lines are in none. */
export function statementsOf(text: string): Statement[] {
  const found: Statement[] = [];
  for (let from = 0; from < text.length; ) {
    const line = lineAt(text, from);
    const header = /^[\s\uFEFF]*\[\[?\s*(.+?)\s*\]\]?\s*(?:#.*)?$/.exec(line.text);
    if (/^[\s\uFEFF]*(#|$)/.test(line.text)) from = line.to;
    else if (header?.[1]) {
      found.push({ from, to: line.to, table: keysOf(header[1]) });
      from = line.to;
    } else {
      const to = valueEnd(text, from);
      found.push({ from, to, key: keysOf(/^[^=]+/.exec(text.slice(from, to).trimStart())?.[0].trim() ?? '')[0] ?? '' });
      from = to;
    }
  }
  return found;
}

const keysOf = (dotted: string): string[] =>
  [...dotted.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+)/g)].map(([, basic, literal, bare]) => basic ?? literal ?? bare ?? '');

function lineAt(text: string, from: number): { text: string; to: number } {
  const end = text.indexOf('\n', from);
  return { text: text.slice(from, end === -1 ? undefined : end).replace(/\r$/, ''), to: end === -1 ? text.length : end + 1 };
}

const STRING = /"""[\s\S]*?(?<!\\)(?:\\\\)*"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[[\]{}]|\n/g;

/** The end of the line on which a value ends: it may be a list or a string of many lines. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  STRING.lastIndex = from;
  for (let token = STRING.exec(text); token; token = STRING.exec(text)) {
    if (/^[[{]$/.test(token[0])) depth++;
    else if (/^[\]}]$/.test(token[0])) depth--;
    else if (token[0] === '\n' && depth === 0) return STRING.lastIndex;
  }
  return text.length;
}

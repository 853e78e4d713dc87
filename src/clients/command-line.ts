/** A word of a command line. Undefined text: only a shell could know it (a variable, a substitution, a glob, `~`). */
export interface ShellWord {
  readonly text: string | undefined;
  /** The word is `NAME=value`, even if the value is unknown. Such a word before a command is not an argument. */
  readonly assigns?: boolean;
}

/** A simple command with its inputs and outputs. */
export interface SimpleCommand {
  readonly words: readonly ShellWord[];
  /** Files that its output is written to. */
  readonly outputs: readonly ShellWord[];
  /** Input from here-documents in the line itself. */
  readonly documents: readonly string[];
  /** Command lines inside its words: `$(…)`, backquotes, `>(…)`. */
  readonly inside: readonly string[];
  /** Part of a pipe or in the background: its `cd` does not affect the next command. */
  readonly apart: boolean;
}

/** The pieces of a line, in order. `(` begins a subshell, `)` ends it. */
export type ShellPiece = SimpleCommand | '(' | ')';

interface Heredoc {
  readonly delimiter: string;
  readonly tabs: boolean;
  readonly into: string[];
}

const SPACE = ' \t\r';
const ENDS_WORD = ' \t\r\n;&|<>()';
const LONGEST_NAME = 200;
/** A longer arithmetic expression is read as commands. */
const LONGEST_ARITHMETIC = 100;
/** After these words, or at the start, `[[` begins a test in which `>` compares and `&&` joins. */
const BEFORE_TEST: readonly (string | undefined)[] = ['if', 'elif', 'while', 'until', '!', 'then', 'else', 'do', '{'];
/** Without `[`, because a shell leaves `app/[id]/page.ts` unchanged unless a folder `i` or `d` exists, and then nobody claims the literal path. */
const UNKNOWN_OUTSIDE_QUOTES = '*?{';

/**
 * The simple commands of a POSIX shell command line. Reads each character a bounded number of times and accepts any text: what it cannot parse is an
 * ordinary word.
 */
export function parseCommandLine(line: string): ShellPiece[] {
  const pieces: ShellPiece[] = [];
  const awaited: Heredoc[] = [];
  let at = 0;
  let words: ShellWord[] = [];
  let outputs: ShellWord[] = [];
  let documents: string[] = [];
  let inside: string[] = [];
  let inTest = false;
  let isPiped = false;

  const finish = (apart = false) => {
    if (words.length + outputs.length + inside.length > 0) pieces.push({ words, outputs, documents, inside, apart: apart || isPiped });
    words = [];
    outputs = [];
    documents = [];
    inside = [];
    inTest = false;
    isPiped = false;
  };
  const readWord = (): ShellWord => {
    const word = wordAt(line, at);
    at = word.end;
    for (const each of word.inside) inside.push(each);
    return { text: word.text, assigns: word.assigns };
  };
  const readTarget = (): ShellWord => {
    while (SPACE.includes(line[at] ?? '\n')) at++;
    return readWord();
  };

  while (at < line.length) {
    const char = line[at] as string;
    if (SPACE.includes(char)) at++;
    else if (char === '\\' && line[at + 1] === '\n') at += 2;
    else if (char === '\n') {
      finish();
      at = readDocuments(line, at + 1, awaited);
    } else if (char === '#') at = endOfLine(line, at);
    else if (inTest && '&|<>()'.includes(char)) at++;
    else if (char === '(' || char === ')') {
      const end = char === '(' ? arithmeticEnd(line, at) : undefined;
      if (end === undefined) {
        finish();
        pieces.push(char);
      }
      at = end ?? at + 1;
    } else if ((char === '<' || char === '>') && line[at + 1] === '(') {
      const end = closingParenthesis(line, at + 2);
      inside.push(line.slice(at + 2, end));
      words.push({ text: undefined });
      at = end + 1;
    } else if (char === '<' && line[at + 1] === '<' && line[at + 2] !== '<') {
      at = readMark(line, at + 2, documents, awaited);
    } else if (char === '<' && line[at + 1] === '<') {
      at += 3;
      const { text } = readTarget();
      if (text !== undefined) documents.push(text);
    } else if (char === '<') {
      const writes = line[at + 1] === '>';
      at += writes || line[at + 1] === '&' ? 2 : 1;
      const target = readTarget();
      if (writes) outputs.push(target);
    } else if (char === '>' || (char === '&' && line[at + 1] === '>')) {
      if (char === '&') at++;
      at++;
      if (line[at] === '>' || line[at] === '|') at++;
      const copies = line[at] === '&';
      if (copies) at++;
      const target = readTarget();
      // `2>&1` and `>&-` name another descriptor, not a file.
      if (!(copies && /^(\d+-?|-)$/.test(target.text ?? ''))) outputs.push(target);
    } else if (';&|'.includes(char)) {
      const isDouble = char !== ';' && line[at + 1] === char;
      finish(char !== ';' && !isDouble);
      isPiped = char === '|' && !isDouble;
      at += isDouble || (isPiped && line[at + 1] === '&') ? 2 : 1;
    } else {
      const start = at;
      const word = readWord();
      const isDescriptor = /^\d+$/.test(line.slice(start, Math.min(at, start + 4))) && (line[at] === '>' || line[at] === '<');
      if (word.text === '[[' && (words.length === 0 || BEFORE_TEST.includes(words.at(-1)?.text))) inTest = true;
      else if (word.text === ']]') inTest = false;
      if (!isDescriptor) words.push(word);
    }
  }
  finish();
  return pieces;
}

/** The offset after `((…))` if it is arithmetic: `((cd a; b); c)` is two subshells. */
function arithmeticEnd(line: string, at: number): number | undefined {
  if (line[at + 1] !== '(') return undefined;
  const inner = line.slice(at + 2, at + 2 + LONGEST_ARITHMETIC);
  const end = closingParenthesis(inner, 0, false);
  return inner.startsWith('))', end) ? at + 2 + end + 2 : undefined;
}

/** Reads quotes, escapes and substitutions up to the end of the word. */
function wordAt(line: string, start: number): { text: string | undefined; assigns: boolean; end: number; inside: string[] } {
  const inside: string[] = [];
  let known = line[start] !== '~';
  let text = '';
  let at = start;
  const substitution = () => {
    known = false;
    if (line[at] === '`') {
      const end = closing('`', line, at + 1);
      inside.push(line.slice(at + 1, end));
      at = end + 1;
    } else if (line[at + 1] === '(') {
      // `$((…))` is a number, in which `<<` shifts.
      const isNumber = line[at + 2] === '(';
      const end = closingParenthesis(line, at + 2, !isNumber);
      if (!isNumber) inside.push(line.slice(at + 2, end));
      at = end + 1;
    } else if (line[at + 1] === '{') at = orEnd(line.indexOf('}', at), line) + 1;
    else at++;
  };
  while (at < line.length && !ENDS_WORD.includes(line[at] as string)) {
    const char = line[at] as string;
    if (char === "'") {
      const end = orEnd(line.indexOf("'", at + 1), line);
      text += line.slice(at + 1, end);
      at = end + 1;
    } else if (char === '"') {
      at++;
      while (at < line.length && line[at] !== '"') {
        if (line[at] === '$' || line[at] === '`') substitution();
        else {
          if (line[at] === '\\' && '"\\$`\n'.includes(line[at + 1] ?? ' ')) at++;
          text += line[at] ?? '';
          at++;
        }
      }
      at++;
    } else if (char === '\\') {
      if (line[at + 1] !== '\n') text += line[at + 1] ?? '';
      at += 2;
    } else if (char === '$' && line[at + 1] === "'") {
      known = false;
      at = closing("'", line, at + 2) + 1;
    } else if (char === '$' || char === '`') substitution();
    else {
      if (UNKNOWN_OUTSIDE_QUOTES.includes(char)) known = false;
      text += char;
      at++;
    }
  }
  // `{` alone groups commands.
  return { text: known || text === '{' ? text : undefined, assigns: /^\w+=/.test(line.slice(start, Math.min(at, start + LONGEST_NAME))), end: at, inside };
}

/** After `<<`: a word that is not expanded, with or without quotes. */
const MARK = /(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([^\s'"\\$`;&|<>()]+))/y;

function readMark(line: string, from: number, into: string[], awaited: Heredoc[]): number {
  MARK.lastIndex = from;
  const mark = MARK.exec(line);
  if (!mark) return from;
  awaited.push({ delimiter: mark[2] ?? mark[3] ?? mark[4] ?? '', tabs: mark[1] === '-', into });
  return MARK.lastIndex;
}

/** Reads the here-documents after a line, up to each delimiter. */
function readDocuments(line: string, from: number, awaited: Heredoc[]): number {
  let at = from;
  for (const { delimiter, tabs, into } of awaited.splice(0)) {
    const start = at;
    let end = line.length;
    while (at < line.length) {
      const next = endOfLine(line, at);
      const row = line.slice(at, line[next - 1] === '\r' ? next - 1 : next);
      if ((tabs ? row.replace(/^\t+/, '') : row) === delimiter) {
        end = at;
        at = next + 1;
        break;
      }
      at = next + 1;
    }
    into.push(line.slice(start, end));
  }
  return Math.min(at, line.length);
}

const endOfLine = (line: string, at: number): number => orEnd(line.indexOf('\n', at), line);
const orEnd = (index: number, line: string): number => (index < 0 ? line.length : index);

/** Finds the closing quote; an escaped one does not count. */
function closing(quote: string, line: string, from: number): number {
  let at = from;
  while (at < line.length && line[at] !== quote) at += line[at] === '\\' ? 2 : 1;
  return Math.min(at, line.length);
}

/** `reads`: the parentheses contain commands, so parentheses in here-documents and comments do not count. */
function closingParenthesis(line: string, from: number, reads = true): number {
  const awaited: Heredoc[] = [];
  let depth = 1;
  let at = from;
  while (at < line.length) {
    const char = line[at] as string;
    if (char === "'") at = orEnd(line.indexOf("'", at + 1), line);
    else if (char === '"') at = closing('"', line, at + 1);
    else if (char === '\\') at++;
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) break;
    else if (reads && char === '#' && ENDS_WORD.includes(line[at - 1] ?? ' ')) at = endOfLine(line, at) - 1;
    else if (reads && char === '<' && line[at + 1] === '<' && line[at + 2] !== '<' && line[at - 1] !== '<') at = readMark(line, at + 2, [], awaited) - 1;
    else if (char === '\n' && awaited.length > 0) at = readDocuments(line, at + 1, awaited) - 1;
    at++;
  }
  return Math.min(at, line.length);
}

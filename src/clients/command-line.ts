/**
 * A word of a command line. `text` is undefined if only a shell can determine it, because the word contains a variable, a
 * substitution, a glob or `~`.
 */
export interface ShellWord {
  readonly text: string | undefined;
  /**
   * True if the word has the form `NAME=value`, even if the value is unknown. Before a command, such a word sets a variable and
   * is not an argument.
   */
  readonly assigns?: boolean;
}

export interface SimpleCommand {
  readonly words: readonly ShellWord[];
  /** Files to which the output of the command is redirected. */
  readonly outputs: readonly ShellWord[];
  /** The texts of here-documents, which the command reads as input. */
  readonly documents: readonly string[];
  /** The command lines that the words contain in `$(…)`, backquotes or `>(…)`. */
  readonly inside: readonly string[];
  /** True if the command is part of a pipe or runs in the background, so that its `cd` does not affect the next command. */
  readonly apart: boolean;
}

/** A piece of a command line. `(` begins a subshell, and `)` ends it. */
export type ShellPiece = SimpleCommand | '(' | ')';

interface Heredoc {
  readonly delimiter: string;
  readonly tabs: boolean;
  readonly into: string[];
}

const SPACE = ' \t\r';
const ENDS_WORD = ' \t\r\n;&|<>()';
const LONGEST_NAME = 200;
/** If `((…))` is longer than this, it is read as commands and not as arithmetic. */
const LONGEST_ARITHMETIC = 100;
/**
 * After one of these words, or at the start of a command, `[[` begins a test. In a test, `>` compares two values and `&&`
 * combines two conditions.
 */
const BEFORE_TEST: readonly (string | undefined)[] = ['if', 'elif', 'while', 'until', '!', 'then', 'else', 'do', '{'];
/**
 * Outside quotes, these characters make a word unknown. `[` is not one of them, because a shell leaves `app/[id]/page.ts`
 * unchanged unless a folder `i` or `d` exists, and in that case nobody claims the literal path.
 */
const UNKNOWN_OUTSIDE_QUOTES = '*?{';

/**
 * Splits a POSIX shell command line into simple commands. It accepts any text and treats text that it cannot parse as ordinary
 * words. It reads each character a limited number of times, so that the time is proportional to the length of the line.
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
      // `2>&1` and `>&-` refer to another descriptor, not to a file.
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

/** Returns the offset after `((…))` if this is arithmetic. Returns undefined otherwise, for example for the two subshells in `((cd a; b); c)`. */
function arithmeticEnd(line: string, at: number): number | undefined {
  if (line[at + 1] !== '(') return undefined;
  const inner = line.slice(at + 2, at + 2 + LONGEST_ARITHMETIC);
  const end = closingParenthesis(inner, 0, false);
  return inner.startsWith('))', end) ? at + 2 + end + 2 : undefined;
}

/** Reads the word at `start`, including its quotes, escapes and substitutions. */
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
      // `$((…))` is arithmetic, where `<<` shifts a number and does not begin a here-document.
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
  // The word `{` groups commands, so its text is known.
  return { text: known || text === '{' ? text : undefined, assigns: /^\w+=/.test(line.slice(start, Math.min(at, start + LONGEST_NAME))), end: at, inside };
}

/** The delimiter of a here-document, which follows `<<`, with or without quotes. */
const MARK = /(-?)[ \t]*(?:'([^'\n]*)'|"([^"\n]*)"|\\?([^\s'"\\$`;&|<>()]+))/y;

function readMark(line: string, from: number, into: string[], awaited: Heredoc[]): number {
  MARK.lastIndex = from;
  const mark = MARK.exec(line);
  if (!mark) return from;
  awaited.push({ delimiter: mark[2] ?? mark[3] ?? mark[4] ?? '', tabs: mark[1] === '-', into });
  return MARK.lastIndex;
}

/** Reads the here-documents that follow a line, each up to its delimiter. */
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

/** Returns the offset of the closing quote. Escaped quotes do not count. */
function closing(quote: string, line: string, from: number): number {
  let at = from;
  while (at < line.length && line[at] !== quote) at += line[at] === '\\' ? 2 : 1;
  return Math.min(at, line.length);
}

/**
 * Returns the offset of the closing parenthesis. `reads`: the parentheses contain commands, so parentheses in here-documents and
 * comments do not count.
 */
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

import { isDeepStrictEqual } from 'node:util';
import { parse, TomlError } from 'smol-toml';
import type { TableEntry } from '../../../clients/client.ts';
import { tomlTable } from '../../../clients/config-entries.ts';
import { CliError } from '../../cli/command.ts';
import { brokenFile } from './broken.ts';
import { type Editor, isOwnKey, ownOf } from './entry.ts';
import { layoutOf } from './json-text.ts';

/** A table header or a key with its value in a TOML file. `from` is the start of its first line, and `to` is the end of its last line. */
interface Statement {
  readonly from: number;
  readonly to: number;
  readonly table?: readonly string[];
  readonly key?: string;
}

/** Splits a valid TOML text into statements. Comments and blank lines belong to no statement. */
function statementsOf(text: string): Statement[] {
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

/** Returns the end of the line on which a value ends. A list or a string can extend over many lines. */
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

/** The keys in which Codex stores tool permissions. The permissions are useless without the server, so removal deletes them too. */
const CLIENT_KEYS = ['tools'];

export const table: Editor<TableEntry> = {
  state(text, entry, file) {
    const found = tableIn(text, entry, file);
    if (!found) return 'missing';
    return isDeepStrictEqual(ownOf(found), entry.value) ? 'good' : 'stale';
  },
  put(text, entry, file) {
    const found = tableIn(text, entry, file);
    const { eol } = layoutOf(text);
    const block = tomlTable(entry.at, entry.value).replaceAll('\n', eol) + eol;
    if (!found) return { text: checked(`${text}${text === '' || text.endsWith('\n') ? '' : eol}${text.trim() === '' ? '' : eol}${block}`, entry, file) };
    const { header, own } = partsOf(text, entry, file);
    const lines = (text.charAt(header.to - 1) === '\n' ? '' : eol) + block.slice(block.indexOf('\n') + 1);
    const replaced = text.slice(0, header.to) + lines + cut(text, own).slice(header.to);
    return { text: checked(replaced, entry, file), was: ownOf(found) };
  },
  take(text, { entry, was }, file) {
    const found = tableIn(text, entry, file);
    if (!found) return text;
    const isWritten = isDeepStrictEqual(ownOf(found), entry.value);
    if (isWritten && was !== undefined) return this.put(text, { ...entry, value: was as TableEntry['value'] }, file).text;
    const isForeign = Object.keys(found).some((key) => !isOwnKey(key) && !CLIENT_KEYS.includes(key));
    if (!isWritten || isForeign) return undefined;
    const { all } = partsOf(text, entry, file);
    const without = cut(text, all);
    // Also removes the blank line between the preceding text and the table.
    const start = all[0]?.from ?? 0;
    return without.slice(start).trim() === '' ? without.slice(0, start).replace(/(\n)\r?\n$/, '$1') + without.slice(start) : without;
  },
};

type Table = Readonly<Record<string, unknown>>;

function parsed(text: string, file: string): Table {
  try {
    // Converts the parsed table to plain objects, so that it can be compared with the wanted value.
    return JSON.parse(JSON.stringify(parse(text.replace(/^\uFEFF/, '')))) as Table;
  } catch (error) {
    if (error instanceof TomlError) throw brokenFile(file, error, 'it is not valid TOML');
    throw error;
  }
}

function tableIn(text: string, { at: [section, name] }: TableEntry, file: string): Table | undefined {
  const servers = parsed(text, file)[section] as Record<string, Table> | undefined;
  return servers?.[name];
}

interface Parts {
  readonly header: Statement;
  /** The statements that setup writes: keys of the table, and its subtables. */
  readonly own: readonly Statement[];
  readonly all: readonly Statement[];
}

function partsOf(text: string, { at }: TableEntry, file: string): Parts {
  let within: readonly string[] = [];
  const inside = statementsOf(text).flatMap((statement) => {
    if (statement.table) within = statement.table;
    const [section, name, key = statement.key] = within;
    return section === at[0] && name === at[1] ? [{ ...statement, of: key }] : [];
  });
  const header = inside.find((statement) => statement.table?.length === 2);
  if (!header) throw otherForm(file, at.join('.'));
  return { header, own: inside.filter(({ of }) => of !== undefined && isOwnKey(of)), all: inside };
}

const cut = (text: string, statements: readonly Statement[]): string =>
  statements.toReversed().reduce((so, { from, to }) => so.slice(0, from) + so.slice(to), text);

/** Returns the text if it parses to the wanted table. Otherwise the file defines the table in a form that setup cannot extend, and an error is thrown. */
function checked(text: string, entry: TableEntry, file: string): string {
  try {
    if (isDeepStrictEqual(ownOf(tableIn(text, entry, file) ?? {}), entry.value)) return text;
  } catch {
    // The error below reports the problem.
  }
  throw otherForm(file, entry.at.join('.'));
}

const otherForm = (file: string, name: string): CliError =>
  new CliError(
    'OTHER_FORM',
    `${file} defines ${name} in a form that setup cannot extend. Nothing was changed.`,
    `Rewrite the entry as a TOML table with the header [${name}], or remove it. Then run this again.`,
  );

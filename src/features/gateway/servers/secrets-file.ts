import { readFileSync, statSync } from 'node:fs';
import { parse, TomlError } from 'smol-toml';
import { isRecord } from '../../../kernel/registry.ts';
import { checkEntry, type EntryOptions, ITEM } from './check-entry.ts';
import type { EntryProblem, ServerEntry } from './entry.ts';
import { type Block, blocksOf, type Table, tryParse } from './toml-blocks.ts';

export interface ReadEntries {
  readonly entries: readonly ServerEntry[];
  readonly problems: readonly EntryProblem[];
}

const NONE: ReadEntries = { entries: [], problems: [] };

/**
 * Reads the `[[mcp.server]]` tables of the file. A fault is reported with its line but without values, and only the table with the fault is skipped.
 */
export function readEntries(path: string, options: EntryOptions): ReadEntries {
  let text: string;
  let mode: number;
  try {
    text = readFileSync(path, 'utf8');
    mode = statSync(path).mode & 0o777;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? NONE : { entries: [], problems: [{ line: null, server: null, message: `Cannot read ${path}: ${code}.` }] };
  }
  const problems = process.platform !== 'win32' && mode & 0o077 ? [exposed(path, mode)] : [];
  return parseEntries(text, options, problems);
}

const exposed = (path: string, mode: number): EntryProblem => ({
  line: null,
  server: null,
  message: `${path} is readable by other users (mode 0${mode.toString(8)}). Run \`chmod 600 ${path}\`.`,
});

export function parseEntries(written: string, options: EntryOptions, already: readonly EntryProblem[] = []): ReadEntries {
  const text = written.replaceAll('\r\n', '\n');
  const problems = [...already];
  const entries = new Map<string, ServerEntry>();
  let broken = false;
  for (const block of blocksOf(text, ITEM)) {
    const read = readBlock(block);
    if ('fault' in read) {
      broken = true;
      problems.push(read.fault);
      continue;
    }
    for (const table of read.tables) {
      const { entry, wrong } = checkEntry(table, block, options);
      const twin = entry && entries.get(entry.name);
      if (twin)
        wrong.push({
          line: block.keys.get('name') ?? block.line,
          server: entry.name,
          message: `name: already used in line ${twin.line}, so this server is skipped.`,
        });
      else if (entry) entries.set(entry.name, entry);
      problems.push(...wrong);
    }
  }
  if (!broken) problems.push(...wholeFault(text));
  return { entries: [...entries.values()], problems };
}

function readBlock(block: Block): { tables: Table[] } | { fault: EntryProblem } {
  let document: Table;
  try {
    document = parse(block.text) as Table;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { fault: faultOf(error, nameIn(block)) };
  }
  const mcp = isRecord(document.mcp) ? document.mcp : {};
  const { server } = mcp;
  if (mcp.servers ?? document.mcp_servers ?? document.mcpServers) return { fault: misplaced(block) };
  if (server === undefined) return { tables: [] };
  if (Array.isArray(server) && server.every(isRecord)) return { tables: server };
  return { fault: misplaced(block) };
}

/** The fault for other ways to write servers, such as those of other programs. Covenant does not read them. */
const misplaced = ({ keys, line }: Block): EntryProblem => ({
  line: keys.get('server') ?? keys.get('servers') ?? line,
  server: null,
  message: 'mcp.server: write each server as its own [[mcp.server]] table.',
});

/** Finds faults that are not visible in a single table, such as a table that is defined twice. */
function wholeFault(text: string): EntryProblem[] {
  try {
    parse(text);
    return [];
  } catch (error) {
    if (error instanceof TomlError) return [faultOf(error, null)];
    throw error;
  }
}

/** Uses only the first line of the parser's message. The other lines quote the file, and messages must not contain its values. */
function faultOf(error: TomlError, server: string | null): EntryProblem {
  const reason = (error.message.split('\n')[0] ?? '').replace('Invalid TOML document: ', '');
  return { line: error.line, server, message: `column ${error.column}: ${reason}.` };
}

function nameIn({ keys, text }: Block): string | null {
  const { name } = tryParse(text.split('\n')[(keys.get('name') ?? 0) - 1] ?? '') ?? {};
  return typeof name === 'string' ? name : null;
}

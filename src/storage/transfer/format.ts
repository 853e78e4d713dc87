import { createReadStream } from 'node:fs';
import { z } from 'zod';
import { StoreError } from '../errors.ts';
import { canonicalJson } from '../journal.ts';
import { SCHEMA } from '../schema.ts';
import type { Database } from '../schema-rows.ts';

/**
 * One workspace as JSON lines: a header, one line a row, an end with the counts and the digest of every line before it. A file without
 * its end was cut short. Rows are in the order of their tables' keys, so that the same content is the same file on either engine.
 */
export const FORMAT = 1;

/** Why nothing was exported or imported, and what to do. */
export class TransferRefused extends StoreError {
  override readonly name = 'TransferRefused';
  readonly code: string;
  readonly next: string;
  constructor(code: string, message: string, next: string) {
    super(message);
    this.code = code;
    this.next = next;
  }
}

const HASH = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();

/** Of another format only this much is known. */
const anyHeader = z.looseObject({ kind: z.literal('covenant_export'), format: z.int(), version: z.string().max(100) });

const header = z.strictObject({
  kind: z.literal('covenant_export'),
  format: z.literal(FORMAT),
  schema: z.int(),
  version: z.string().max(100),
  workspace: z.strictObject({ id: z.string().min(1).max(100), name: z.string().min(1).max(100) }),
  /** Whether the journal's chain was found whole when it was exported. */
  verified: z.boolean(),
  exported_at: z.int(),
});
export type Header = z.output<typeof header>;

const end = z.strictObject({
  kind: z.literal('end'),
  rows: z.record(z.string(), count),
  journal: z.strictObject({ seq: count, hash: HASH }),
  sha256: HASH,
});
export type End = z.output<typeof end>;

const rowLine = z.strictObject({ table: z.string(), row: z.record(z.string(), z.union([z.string(), z.number(), z.null()])) });

export const writeLine = (line: Header | End): string => `${JSON.stringify(line)}\n`;

export const writeRow = ({ name }: TableLayout, row: TransferRow): string => `{"table":"${name}","row":${canonicalJson(row)}}\n`;

const DAMAGED = 'The file is damaged: copy it again from where it was made, or export anew. Nothing was changed.';

export const damaged = (line: number, reason: string): TransferRefused => new TransferRefused('FILE_DAMAGED', `line ${line}: ${reason}.`, DAMAGED);

export function readHeader(text: string | undefined, schema: number): Header {
  const known = anyHeader.safeParse(text === undefined ? undefined : parsed(text));
  if (!known.success)
    throw new TransferRefused('NOT_AN_EXPORT', 'line 1: this is no file of covenant export.', 'Give the path of a file that covenant export wrote.');
  const version = known.data.version;
  if (known.data.format > FORMAT) {
    throw new TransferRefused(
      'EXPORT_NEWER',
      `line 1: format: ${known.data.format}; this program reads ${FORMAT}.`,
      `Import it with Covenant ${version} or newer.`,
    );
  }
  const read = header.safeParse(known.data);
  if (!read.success) throw damaged(1, issueOf(read.error));
  if (read.data.schema > schema) {
    throw new TransferRefused(
      'EXPORT_NEWER',
      `line 1: schema: ${read.data.schema}; this program knows ${schema}.`,
      `Import it with Covenant ${version} or newer.`,
    );
  }
  if (read.data.schema < schema) {
    throw new TransferRefused(
      'EXPORT_OLDER',
      `line 1: schema: ${read.data.schema}; this program has ${schema}, and migrates databases, not files.`,
      `Import it with Covenant ${version}, which wrote it, then start this one on that database.`,
    );
  }
  return read.data;
}

export type Content = { readonly end: End } | { readonly table: string; readonly row: Record<string, Value> };

/** Any line but the first. */
export function readContent(text: string, line: number): Content {
  const value = parsed(text);
  if (value === undefined) throw damaged(line, 'this is not JSON');
  if (typeof value === 'object' && value !== null && 'kind' in value) {
    const read = end.safeParse(value);
    if (!read.success) throw damaged(line, issueOf(read.error));
    return { end: read.data };
  }
  const read = rowLine.safeParse(value);
  if (!read.success) throw damaged(line, issueOf(read.error));
  return read.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function issueOf(error: z.ZodError): string {
  const [issue] = error.issues;
  return `${issue?.path.join('.') || 'the line'}: ${issue?.message ?? 'unreadable'}`;
}

/** All that a portable column can hold; JSON is the text that it is stored as. */
export type Value = string | number | null;
export type TransferRow = Record<string, Value>;

interface Column {
  readonly type: 'text' | 'integer' | 'bigint';
  readonly nullable: boolean;
}

export interface TableLayout {
  readonly name: keyof Database;
  /** By name, in the order in which a row is written. */
  readonly columns: ReadonlyMap<string, Column>;
  readonly key: readonly string[];
  /** The column that says whose a row is. */
  readonly owner: 'workspace_id' | 'id';
  /** Columns whose values no two workspaces may share. */
  readonly uniqueAcross: readonly (readonly string[])[];
}

/** Tables of a workspace that are one server's affair: who may run programs on one machine may not on another, and tickets and counts are of a moment. */
export const OF_ONE_SERVER = ['machine_permissions', 'page_tickets', 'journal_growth'] as const satisfies (keyof Database)[];

/** These, and those that are of the database and not of a workspace. */
export const LEFT_OUT = ['schema_migrations', ...OF_ONE_SERVER] as const;

/** Whoever reads the file must know the anchor before the first event. No table refers to another by a key, so the rest is free. */
const FIRST = ['workspaces', 'journal_anchors', 'journal_heads', 'events'];

/** Read from the schema on record, so that a table or a column of a later migration is carried without a line here. */
export const TABLES: readonly TableLayout[] = layoutOf(SCHEMA);

function layoutOf({ sqlite, postgres }: typeof SCHEMA): TableLayout[] {
  const columns = Map.groupBy(postgres.matchAll(/^(\w+)\.(\w+) (text|integer|bigint)( not null)?( default .+)?$/gm), ([, table = '']) => table);
  const unique = Map.groupBy(postgres.matchAll(/^CREATE UNIQUE INDEX \w+ ON (\w+) USING btree \(([^)]+)\)/gm), ([, table = '']) => table);
  // PostgreSQL has no primary key where an index with more columns serves as one.
  const keys = new Map(
    [...sqlite.matchAll(/^CREATE TABLE "(\w+)" .*?(?:"(\w+)" \w+ primary key\b|primary key \(([^)]+)\))/gm)].map(([, table = '', one, several]) => [
      table,
      namesIn(one ?? several ?? ''),
    ]),
  );
  const named = [...columns.keys()].filter((name) => !LEFT_OUT.some((table) => table === name) && !FIRST.includes(name)).sort();
  return [...FIRST, ...named].map((name) => {
    const own = (columns.get(name) ?? []).map(([, , column = '', type, required]) => [column, { type: type as Column['type'], nullable: !required }] as const);
    const owner = name === 'workspaces' ? 'id' : 'workspace_id';
    return {
      name: name as keyof Database,
      columns: new Map(own.sort(([a], [b]) => (a < b ? -1 : 1))),
      key: keys.get(name) ?? [],
      owner,
      uniqueAcross: (unique.get(name) ?? []).map(([, , list = '']) => namesIn(list)).filter((list) => !list.includes(owner)),
    };
  });
}

function namesIn(list: string): string[] {
  return list.replaceAll('"', '').split(', ');
}

/** What about a row does not fit its table, naming the column; nothing where it fits. */
export function misfit({ columns }: TableLayout, row: TransferRow): string | undefined {
  const unknown = Object.keys(row).find((name) => !columns.has(name));
  if (unknown !== undefined) return `${unknown}: there is no such column`;
  for (const [name, { type, nullable }] of columns) {
    const value = row[name];
    if (value === undefined) return `${name}: missing`;
    if (value === null) {
      if (!nullable) return `${name}: must not be null`;
    } else if (type === 'text') {
      if (typeof value !== 'string') return `${name}: expected text`;
      // PostgreSQL has no such text, and a file that only one engine takes is of little use.
      if (value.includes('\0')) return `${name}: contains a NUL character`;
    } else if (!Number.isSafeInteger(value)) return `${name}: expected a whole number`;
  }
  return undefined;
}

/** Far more than any row has: a file that is something else is not read into memory whole. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface TransferLine {
  readonly number: number;
  /** Without the newline. */
  readonly text: string;
  /** With it, where there is one. */
  readonly bytes: Buffer;
}

/** Split at newlines alone: node's readline also splits at separators that a text may contain. */
export async function* linesOf(path: string): AsyncGenerator<TransferLine> {
  let parts: Buffer[] = [];
  let size = 0;
  let number = 1;
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const own = chunk.subarray(from, at + 1);
      yield lineOf(number++, parts.length > 0 ? Buffer.concat([...parts, own]) : own);
      parts = [];
      size = 0;
      from = at + 1;
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > MAX_LINE_BYTES) throw damaged(number, 'the line has no end');
  }
  if (parts.length > 0) yield lineOf(number, Buffer.concat(parts));
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function lineOf(number: number, bytes: Buffer): TransferLine {
  const content = bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes;
  try {
    return { number, text: utf8.decode(content), bytes };
  } catch {
    throw damaged(number, 'this is not UTF-8');
  }
}

export async function firstLine(path: string): Promise<string | undefined> {
  for await (const { text } of linesOf(path)) return text;
  return undefined;
}

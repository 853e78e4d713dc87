import { z } from 'zod';
import { StoreError } from '../errors.ts';
import { canonicalJson } from '../journal.ts';
import type { TableLayout, TransferRow, Value } from './layout.ts';

/**
 * The format of an export: one workspace as JSON lines. The first line is a header, then each row has a line. The end line contains the counts and the digest
 * of all earlier lines, so a file without it is incomplete. Rows are sorted by table key, so that both engines export the same content to the same file.
 */
export const FORMAT = 1;

/** Nothing was exported or imported. The message gives the reason and the next step. */
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

/** The header fields that all format versions have in common. */
const anyHeader = z.looseObject({ kind: z.literal('covenant_export'), format: z.int(), version: z.string().max(100) });

const header = z.strictObject({
  kind: z.literal('covenant_export'),
  format: z.literal(FORMAT),
  schema: z.int(),
  version: z.string().max(100),
  workspace: z.strictObject({ id: z.string().min(1).max(100), name: z.string().min(1).max(100) }),
  /** Whether the export verified the hash chain of the journal. */
  verified: z.boolean(),
  exported_at: z.int(),
});
export type TransferHeader = z.output<typeof header>;

const end = z.strictObject({
  kind: z.literal('end'),
  rows: z.record(z.string(), count),
  journal: z.strictObject({ seq: count, hash: HASH }),
  sha256: HASH,
});
export type TransferEnd = z.output<typeof end>;

const rowLine = z.strictObject({ table: z.string(), row: z.record(z.string(), z.union([z.string(), z.number(), z.null()])) });

export const writeLine = (line: TransferHeader | TransferEnd): string => `${JSON.stringify(line)}\n`;

export const writeRow = ({ name }: TableLayout, row: TransferRow): string => `{"table":"${name}","row":${canonicalJson(row)}}\n`;

const DAMAGED = 'Copy the file again from its origin, or export again. Nothing was changed.';

export const fileDamaged = (line: number, reason: string): TransferRefused => new TransferRefused('FILE_DAMAGED', `line ${line}: ${reason}.`, DAMAGED);

export function readHeader(text: string | undefined, schema: number): TransferHeader {
  const known = anyHeader.safeParse(text === undefined ? undefined : parsed(text));
  if (!known.success)
    throw new TransferRefused(
      'NOT_AN_EXPORT',
      'line 1: this file was not written by covenant export.',
      'Pass the path of a file written by `covenant export`.',
    );
  const version = known.data.version;
  if (known.data.format > FORMAT) {
    throw new TransferRefused(
      'EXPORT_NEWER',
      `line 1: format: ${known.data.format}; this program reads ${FORMAT}.`,
      `Import it with Covenant ${version} or newer.`,
    );
  }
  const read = header.safeParse(known.data);
  if (!read.success) throw fileDamaged(1, issueOf(read.error));
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
      `line 1: schema: ${read.data.schema}; this program has ${schema} and migrates databases, not export files.`,
      `Import it with Covenant ${version}, which wrote it, then start this version on that database to migrate it.`,
    );
  }
  return read.data;
}

export type TransferContent = { readonly end: TransferEnd } | { readonly table: string; readonly row: Record<string, Value> };

/** Parses any line after the header. */
export function readContent(text: string, line: number): TransferContent {
  const value = parsed(text);
  if (value === undefined) throw fileDamaged(line, 'this is not JSON');
  if (typeof value === 'object' && value !== null && 'kind' in value) {
    const read = end.safeParse(value);
    if (!read.success) throw fileDamaged(line, issueOf(read.error));
    return { end: read.data };
  }
  const read = rowLine.safeParse(value);
  if (!read.success) throw fileDamaged(line, issueOf(read.error));
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

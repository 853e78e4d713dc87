import { z } from 'zod';
import type { Contract } from './contract.ts';
import type { PublishedTool } from './registry.ts';
import { Refusal } from './reply.ts';
import { withoutCredentials } from './repo.ts';
import type { Implementation } from './tool.ts';

/** Input fields that several contracts share. Within one tool a name has one schema, so each is written once. */

export const id = z.string().min(1).max(64);

export const title = z
  .string()
  .trim()
  .min(1)
  .max(300)
  .regex(/^[^\p{Cc}\u2028\u2029]*$/u, { error: 'expected one line without control characters' });

/** Free text of bounded length. */
export const text = (max: number) => z.string().trim().min(1).max(max);

const JSON_LIMIT = 64 * 1024;

/** Free JSON of the agent's own, bounded. */
export const details = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= JSON_LIMIT, { error: `expected at most ${JSON_LIMIT} characters of JSON` });

export const repo = z
  .string()
  .trim()
  .overwrite(withoutCredentials)
  .min(1)
  .max(300)
  .describe('The repository, as your team names it: its remote URL or its name. Default for sessions and claims: where your bridge stands.');
export const branch = z.string().trim().min(1).max(300);

/** A path inside a repository, written with forward slashes and without detours. */
export const repoPath = z
  .string()
  .min(1)
  .max(500)
  .refine((path) => !/^[/\\~]|^[A-Za-z]:|\\|(^|\/)\.\.?(\/|$)|\/$|\/\//.test(path), {
    error: 'expected a path relative to the repository, with forward slashes and without "." or ".."',
  });

/** Where a call makes no sense without one. */
export const ownSessionId = id.describe('Your session, from covibe_session start: the call is linked to it.');
export const sessionId = ownSessionId.optional();

/** One way to write it: without a slash at its end, and on systems where two slashes are as good as one, without doubled ones. */
const tidied = (path: string): string => {
  const single = path.startsWith('/') ? path.replace(/\/{2,}/g, '/') : path;
  return /^([A-Za-z]:)?[\\/]+$/.test(single) ? single : single.replace(/[\\/]+$/, '');
};

/** An absolute path, of whichever system, without detours. */
export const absolutePath = z
  .string()
  .trim()
  .max(1_000)
  .overwrite(tidied)
  .refine((path) => /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path) && !/(^|[\\/])\.\.?([\\/]|$)|\p{Cc}/u.test(path), {
    error: 'expected an absolute path without "." or ".."',
  });

export const repositoryPath = absolutePath.describe('The repository, by its absolute path. Default: the one that your bridge or CLI reports.');

/** Deeper JSON than any contract has: it can only be meant to hurt a recursive reader. */
const MAX_DEPTH = 64;

export interface InputIssue {
  /** `candidates[0].reason`; empty for the whole input. */
  field: string;
  message: string;
}

/** The field by which a call of the team contract names the agent session that it belongs to. */
export const SESSION_FIELD = 'session_id';

export const linksSession = ({ toolset, input }: Contract): boolean => toolset === 'team' && SESSION_FIELD in input.shape;

/** What is wrong with a thousand fields is said of the first few: the answer must not grow with the nonsense. */
const MAX_ISSUES = 10;

export function invalidInput(all: readonly InputIssue[], codes: Readonly<Record<string, string>> = {}): Refusal {
  const issues = all.slice(0, MAX_ISSUES).map(({ field, message }) => ({ field: shortened(field), message }));
  const text = issues.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ');
  const coded = Object.keys(codes).find((name) => all.some(({ field }) => field === name));
  const code = coded === undefined ? 'INVALID_INPUT' : (codes[coded] as string);
  return new Refusal(code, `Invalid input: ${text}.`, 'Correct the named fields and call again.', { field: coded ?? issues[0]?.field ?? '', issues });
}

/** Which operation is meant, and the rest of the input for its own schema. */
export function selectOperation(tool: PublishedTool, args: unknown): { implementation: Implementation; fields: unknown } {
  const only = tool.operations.get(null);
  if (only) return { implementation: only, fields: args };
  const { operation, ...fields } = isRecord(args) ? args : {};
  const chosen = typeof operation === 'string' ? tool.operations.get(operation) : undefined;
  if (!chosen) {
    throw invalidInput([{ field: 'operation', message: `expected one of ${[...tool.operations.keys()].join(', ')}` }]);
  }
  return { implementation: chosen, fields };
}

/** The checked input, or a refusal that names every offending field. */
export function parseInput(contract: Pick<Contract, 'input' | 'inputCodes'>, value: unknown): Record<string, unknown> {
  const hostile = findUnstorable(value, '', 0);
  if (hostile) throw invalidInput([hostile], contract.inputCodes);
  const result = contract.input.safeParse(value);
  if (result.success) return result.data;
  throw invalidInput(issuesOf(result.error), contract.inputCodes);
}

/** `under`: where the value stands in the input, if it is not the whole of it. */
export const issuesOf = (error: z.ZodError, ...under: PropertyKey[]): InputIssue[] =>
  error.issues.flatMap((issue) => describe(issue, [...under, ...issue.path]));

function describe(issue: z.core.$ZodIssue, at: readonly PropertyKey[]): InputIssue[] {
  const path = fieldName(at);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: fieldName([...at, key]), message: 'unknown field' }));
  }
  // Of a field that may be anything but must be there.
  if (issue.code === 'invalid_type' && (issue.expected as string) === 'nonoptional') return [{ field: path, message: 'expected a value' }];
  return [{ field: path, message: issue.message.replace(/^Invalid input: /, '') }];
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index ? '.' : ''}${String(part)}`)).join('');
}

/** What JSON can carry and a database cannot: NUL, half a surrogate pair, a number beyond all numbers; and nesting without end. */
function findUnstorable(value: unknown, field: string, depth: number): InputIssue | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return { field, message: 'contains a NUL character' };
    if (!value.isWellFormed()) return { field, message: 'contains half of a surrogate pair' };
    return undefined;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return { field, message: 'is a number too large to be one' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { field, message: `is nested deeper than ${MAX_DEPTH} levels` };
  for (const [key, inner] of Object.entries(value)) {
    const name = Array.isArray(value) ? `${field}[${key}]` : field ? `${field}.${key}` : key;
    // Of a free object the schemas would drop it without a word.
    if (key === '__proto__') return { field: name, message: 'is no name that a field can have' };
    const found = findUnstorable(key, name, depth) ?? findUnstorable(inner, name, depth + 1);
    if (found) return found;
  }
  return undefined;
}

const shortened = (field: string): string => (field.length > 60 ? `${field.slice(0, 60)}…` : field);

export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a parsed value takes besides its bytes, on average and generously. */
export const NODE_BYTES = 100;
export const parsedBytes = (bytes: number, nodes: number): number => bytes + NODE_BYTES * nodes;

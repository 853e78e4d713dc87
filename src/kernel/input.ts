import type { z } from 'zod';
import type { Contract } from './contract.ts';
import { Refusal } from './errors.ts';
import type { PublishedTool } from './registry.ts';
import type { Implementation } from './tool.ts';

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

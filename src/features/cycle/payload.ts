import { z } from 'zod';
import { issuesOf } from '../../kernel/registry.ts';
import { invalidInput } from '../../kernel/reply.ts';
import { hasToken } from '../../storage/journal.ts';

const MAX_CHARACTERS = 256 * 1024;
/** Shorter ones would be found by chance. */
const SHORTEST_SECRET = 8;

const lines = z.array(z.string().max(8_000)).max(2_000);
const endpoint = z.looseObject({ method: z.string().min(1).max(20), path: z.string().min(1).max(2_000) });

/** The lists of every payload, in reading order. */
export const HANDOFF_LISTS = ['files_modified', 'endpoints', 'data_shapes', 'assumptions', 'todos', 'notes'] as const;

/** The message of one role to the next. Further fields go into `extras`, or beside the others: all of it is kept. */
export const handoffPayload = z.looseObject({
  cycle_id: z.string().min(1).describe('The current cycle, from cycle.start or cycle.status.'),
  feature: z.string().min(1).describe('The feature, as cycle.start got it.'),
  producer: z.string().min(1).describe('Your role.'),
  consumer: z.string().min(1).describe('The role that it is for: the target.'),
  files_modified: lines,
  endpoints: z.array(endpoint).max(2_000),
  data_shapes: z.array(z.unknown()).max(2_000),
  assumptions: lines,
  todos: lines,
  notes: lines,
  extras: z.record(z.string(), z.unknown()).optional(),
});
export type HandoffPayload = z.output<typeof handoffPayload>;

/** Agents see its fields; they are checked only after the caller's right to write. */
export const { $schema: _, ...payloadSchema } = z.toJSONSchema(handoffPayload, { io: 'input' });

interface Direction {
  readonly cycle_id: string;
  readonly feature: string;
  readonly producer: string;
  readonly consumer: string;
}

/** The checked payload, or a refusal that names its fields. It is there for everybody to read and is archived: none of these secrets may be in it. */
export function requirePayload(value: unknown, expected: Direction, secrets: readonly string[] = []): HandoffPayload {
  // First of all: a fault of each of a million elements would be noted before anything is said of the first.
  if ((JSON.stringify(value) ?? '').length > MAX_CHARACTERS) {
    throw invalidInput([{ field: 'payload', message: `expected at most ${MAX_CHARACTERS} characters of JSON` }]);
  }
  const parsed = handoffPayload.safeParse(value);
  if (!parsed.success) throw invalidInput(issuesOf(parsed.error, 'payload'));
  const wrong = (Object.keys(expected) as (keyof Direction)[]).filter((field) => parsed.data[field] !== expected[field]);
  if (wrong.length > 0) throw invalidInput(wrong.map((field) => ({ field: `payload.${field}`, message: `expected ${JSON.stringify(expected[field])}` })));
  const told = Object.entries(parsed.data).filter((entry) => tells(JSON.stringify(entry), secrets));
  if (told.length > 0) throw invalidInput(told.map(([field]) => ({ field: `payload.${field}`, message: 'has a token or a PSK in it: leave it out' })));
  return parsed.data;
}

/** One of these, or any token: it may be another's, or one of yesterday. */
const tells = (json: string, secrets: readonly string[]): boolean =>
  hasToken(json) || secrets.some((secret) => secret.length >= SHORTEST_SECRET && json.includes(JSON.stringify(secret).slice(1, -1)));

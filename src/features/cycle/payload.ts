import { z } from 'zod';
import { issuesOf } from '../../kernel/registry.ts';
import { invalidInput } from '../../kernel/reply.ts';
import { hasToken } from '../../storage/journal.ts';

const MAX_CHARACTERS = 256 * 1024;
/** Only secrets with at least this length are searched for, because shorter ones would match by chance. */
const SHORTEST_SECRET = 8;

const lines = z.array(z.string().max(8_000)).max(2_000);
const endpoint = z.looseObject({ method: z.string().min(1).max(20), path: z.string().min(1).max(2_000) });

/** The lists that every payload contains, in the order in which people read them. */
export const HANDOFF_LISTS = ['files_modified', 'endpoints', 'data_shapes', 'assumptions', 'todos', 'notes'] as const;

/** The message from one role to the next. Callers may add fields, in `extras` or beside the others, and all of them are stored. */
export const handoffPayload = z.looseObject({
  cycle_id: z.string().min(1).describe('Id of the current cycle, from cycle.start or cycle.status.'),
  feature: z.string().min(1).describe('Feature, exactly as given to cycle.start.'),
  producer: z.string().min(1).describe('Your role.'),
  consumer: z.string().min(1).describe('Target role.'),
  files_modified: lines,
  endpoints: z.array(endpoint).max(2_000),
  data_shapes: z.array(z.unknown()).max(2_000),
  assumptions: lines,
  todos: lines,
  notes: lines,
  extras: z.record(z.string(), z.unknown()).optional(),
});
export type HandoffPayload = z.output<typeof handoffPayload>;

/** The schema that agents see. The server checks a payload against it only after it has checked that the caller may write. */
export const { $schema: _, ...payloadSchema } = z.toJSONSchema(handoffPayload, { io: 'input' });

interface Direction {
  readonly cycle_id: string;
  readonly feature: string;
  readonly producer: string;
  readonly consumer: string;
}

/**
 * Returns the payload if it is valid. Otherwise throws a refusal that lists the faulty fields. Payloads are archived and everybody can read
 * them, so a payload must not contain any of `secrets`.
 */
export function requirePayload(value: unknown, expected: Direction, secrets: readonly string[] = []): HandoffPayload {
  // The size is checked first, because the schema check would report a fault for each element of a huge list.
  if ((JSON.stringify(value) ?? '').length > MAX_CHARACTERS) {
    throw invalidInput([{ field: 'payload', message: `expected at most ${MAX_CHARACTERS} characters of JSON` }]);
  }
  const parsed = handoffPayload.safeParse(value);
  if (!parsed.success) throw invalidInput(issuesOf(parsed.error, 'payload'));
  const wrong = (Object.keys(expected) as (keyof Direction)[]).filter((field) => parsed.data[field] !== expected[field]);
  if (wrong.length > 0) throw invalidInput(wrong.map((field) => ({ field: `payload.${field}`, message: `expected ${JSON.stringify(expected[field])}` })));
  const told = Object.entries(parsed.data).filter((entry) => tells(JSON.stringify(entry), secrets));
  if (told.length > 0) throw invalidInput(told.map(([field]) => ({ field: `payload.${field}`, message: 'contains a token or a PSK; remove it' })));
  return parsed.data;
}

/** Finds the given secrets, and everything that looks like a token: it may be an old token or the token of another role. */
const tells = (json: string, secrets: readonly string[]): boolean =>
  hasToken(json) || secrets.some((secret) => secret.length >= SHORTEST_SECRET && json.includes(JSON.stringify(secret).slice(1, -1)));

import { z } from 'zod';
import { issuesOf } from '../../kernel/registry.ts';
import { invalidInput } from '../../kernel/reply.ts';
import { hasToken } from '../../storage/journal.ts';

const MAX_CHARACTERS = 256 * 1024;
/** Shorter values would match by chance. */
const SHORTEST_SECRET = 8;

const lines = z.array(z.string().max(8_000)).max(2_000);
const endpoint = z.looseObject({ method: z.string().min(1).max(20), path: z.string().min(1).max(2_000) });

/** The lists of every payload, in reading order. */
export const HANDOFF_LISTS = ['files_modified', 'endpoints', 'data_shapes', 'assumptions', 'todos', 'notes'] as const;

/** The message of one role to the next. Additional fields go into `extras` or next to the others; everything is stored. */
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

/** Published to agents as a schema, but checked only after the caller's right to write. */
export const { $schema: _, ...payloadSchema } = z.toJSONSchema(handoffPayload, { io: 'input' });

interface Direction {
  readonly cycle_id: string;
  readonly feature: string;
  readonly producer: string;
  readonly consumer: string;
}

/** The checked payload, or a refusal that names its faulty fields. Everyone can read it and it is archived, so it must contain none of these secrets. */
export function requirePayload(value: unknown, expected: Direction, secrets: readonly string[] = []): HandoffPayload {
  // The size is checked first. Otherwise the other check would record a fault for each of a million elements.
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

/** Matches these secrets and anything in the form of a token, which may be an old token or one of another role. */
const tells = (json: string, secrets: readonly string[]): boolean =>
  hasToken(json) || secrets.some((secret) => secret.length >= SHORTEST_SECRET && json.includes(JSON.stringify(secret).slice(1, -1)));

import { z } from 'zod';
import { invalidInput } from '../../kernel/input.ts';

const MAX_CHARACTERS = 256 * 1024;

const lines = z.array(z.string().max(8_000)).max(2_000);
const endpoint = z.looseObject({ method: z.string().min(1).max(20), path: z.string().min(1).max(2_000) });

/** What one role tells the next. Fields of one's own go into `extras`, or beside the others: all of it is kept. */
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

/** The checked payload, or a refusal that names its fields. */
export function requirePayload(value: unknown, expected: Direction): HandoffPayload {
  const parsed = handoffPayload.safeParse(value);
  if (!parsed.success) {
    throw invalidInput(parsed.error.issues.map(({ path, message }) => ({ field: fieldOf(path), message: message.replace(/^Invalid input: /, '') })));
  }
  const wrong = (Object.keys(expected) as (keyof Direction)[]).filter((field) => parsed.data[field] !== expected[field]);
  if (wrong.length > 0) throw invalidInput(wrong.map((field) => ({ field: `payload.${field}`, message: `expected ${JSON.stringify(expected[field])}` })));
  if (JSON.stringify(parsed.data).length > MAX_CHARACTERS) {
    throw invalidInput([{ field: 'payload', message: `expected at most ${MAX_CHARACTERS} characters of JSON` }]);
  }
  return parsed.data;
}

const fieldOf = (path: readonly PropertyKey[]): string =>
  ['payload', ...path].map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index ? '.' : ''}${String(part)}`)).join('');

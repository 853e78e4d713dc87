import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isRecord } from '../../kernel/registry.ts';
import { ENVELOPES, type JsonSchema } from '../../kernel/reply.ts';
import { ROOT } from '../programs/program.ts';
import type { Target } from './targets.ts';

/** The parts of an answer that a caller reads, whatever the envelope. */
export interface ParsedAnswer {
  readonly status: 'ok' | 'warning' | 'blocked' | 'error';
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly next?: string | undefined;
}

const ajv = new Ajv2020({ strict: false, allErrors: false });
const validators = new Map<JsonSchema, ValidateFunction>();
const validator = (schema: JsonSchema): ValidateFunction => {
  const known = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, known);
  return known;
};

/** The envelopes that are used if a call is refused before it reaches a tool. */
const FALLBACKS = {
  plain: ENVELOPES.admin.schema({ type: 'object', properties: {} }),
  team: ENVELOPES.team.schema({ type: 'object', properties: {} }),
  cycle: ENVELOPES.cycle.schema({ type: 'object' }),
};

/** All error codes that occur in the product's source. Any other code in an answer must come from a driver or the system. */
const CODES = new Set(
  sources(join(ROOT, 'src'))
    .flatMap((path) => readFileSync(path, 'utf8').match(/['`][A-Z][A-Z_]+['`]/g) ?? [])
    .map((word) => word.slice(1, -1)),
);

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name) && !entry.parentPath.includes('/testing'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Matches internal details that an answer must never contain, such as a stack, a source path, a driver's message or a token. */
const INSIDE =
  /\n\s+at |node_modules|\/src\/\w+\/|\.ts:\d|SQLITE_|ZodError|Cannot read prop|is not a function|undefined is not|violates .* constraint|cv_[\w-]{43}/;

/** Calls that are allowed to return a token. */
const GIVES_TOKENS = new Set(['tokens.create', 'tokens.rotate']);

/** Parses an answer. Returns its content as `told`, and what is wrong with it as `problems`. */
export function readAnswer(target: Target, body: unknown, sent: string): { told: ParsedAnswer; problems: string[] } {
  if (!isRecord(body)) return { told: { status: 'error' }, problems: [`the answer is not an object: ${JSON.stringify(body)}`] };
  const told = toldBy(body);
  const problems: string[] = [];
  const own = target.published.envelope;
  const early =
    told.status !== 'ok' && ('feedback' in body ? FALLBACKS.team : 'ok' in body ? FALLBACKS.cycle : target.noun === 'action' ? FALLBACKS.plain : undefined);
  const check = validator(target.published.outputSchema);
  if (!check(own.isToolResult && 'structuredContent' in body ? body.structuredContent : body) && !(early && validator(early)(body)))
    problems.push(`does not match the output schema: ${ajv.errorsText(check.errors)}`);
  if (told.status !== 'ok') {
    if (!told.code || !(CODES.has(told.code) || told.code.endsWith('_NOT_FOUND'))) problems.push(`an unknown code: ${told.code}`);
    if (told.code === 'INTERNAL' || told.code === 'INTERNAL_ERROR') problems.push('a fault');
    if (!told.message) problems.push('a refusal without a message');
    if (!told.next) problems.push('a refusal without a next step');
  }
  const text = JSON.stringify(body);
  const inside = INSIDE.exec(text)?.[0];
  if (inside && !sent.includes(inside) && !GIVES_TOKENS.has(target.label)) problems.push(`reveals internal details: ${JSON.stringify(inside.slice(0, 12))}`);
  return { told, problems };
}

function toldBy(body: Record<string, unknown>): ParsedAnswer {
  if (isRecord(body.feedback)) {
    const { code } = body.data as { code?: string };
    return { status: body.status as ParsedAnswer['status'], code, message: String(body.message ?? ''), next: String(body.feedback.required_action ?? '') };
  }
  if (body.ok === false && isRecord(body.error)) {
    const { code, message, details } = body.error as { code: string; message: string; details: { next?: string } };
    return { status: 'error', code, message, next: details.next };
  }
  const plain = isRecord(body.structuredContent) ? body.structuredContent : body;
  if (typeof plain.code !== 'string' || !('next' in plain || 'recoverable' in plain)) return { status: 'ok' };
  return { status: 'error', code: plain.code, message: String(plain.message ?? ''), next: String(plain.next ?? plain.suggestion ?? '') };
}

import type { Toolset } from './contract.ts';
import type { TextContent } from './tool.ts';

/** The result of a call, before an envelope renders it as a response. */
export type Reply<T> = Ok<T> | Refused<T>;

export interface Ok<T> {
  readonly status: 'ok';
  readonly message: string;
  readonly data: T;
}

/** A call with a `warning` did what was asked; a `blocked` or failed call did not. Each has a stable code, a message and the next step. */
export interface Refused<T = Record<string, unknown>> {
  readonly status: 'warning' | 'blocked' | 'error';
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly data: T | Record<string, unknown>;
}

export const ok = <T>(data: T, message = 'Done.'): Ok<T> => ({ status: 'ok', message, data });

export const refused = <T extends Record<string, unknown>>(status: Refused['status'], code: string, message: string, next: string, data?: T): Refused<T> => ({
  status,
  code,
  message,
  next,
  data: data ?? {},
});

export type JsonSchema = Record<string, unknown>;

/** Facts that some envelopes add to the reply. */
interface About {
  readonly tool?: string;
  /** The calling instance. */
  readonly instance?: string | null;
  readonly content?: ((data: Record<string, unknown>) => TextContent[]) | undefined;
}

/** Renders replies in the documented response format of a contract. */
export interface Envelope {
  render(reply: Reply<unknown>, about?: About): Record<string, unknown>;
  /** The JSON Schema of what `render` returns, for a tool whose data has the schema `data`. */
  schema(data: JsonSchema): JsonSchema;
  /** True if `render` returns a complete MCP tool result. Otherwise it returns only the structured content of a tool result. */
  readonly isToolResult?: true;
}

const FEEDBACK = { ok: 'info', warning: 'warning', blocked: 'block', error: 'error' } as const;

/** Every `blocked` response contains these two fields, even if there is no warning. */
const BLOCK = { warning_id: null, matches: [] } as const;

const team: Envelope = {
  render(reply) {
    const refusal = reply.status === 'ok' ? null : reply;
    return {
      status: reply.status,
      message: reply.message,
      feedback: { type: FEEDBACK[reply.status], required_action: refusal?.next ?? null },
      data: refusal ? { ...(reply.status === 'blocked' ? BLOCK : {}), ...(refusal.data as object), code: refusal.code } : reply.data,
    };
  },
  schema: (data) => ({
    type: 'object',
    properties: {
      status: { type: 'string', enum: Object.keys(FEEDBACK) },
      message: { type: 'string' },
      feedback: {
        type: 'object',
        properties: {
          type: { type: 'string', enum: Object.values(FEEDBACK) },
          required_action: { type: ['string', 'null'] },
        },
        required: ['type', 'required_action'],
        additionalProperties: false,
      },
      // A refusal's data has other fields than a success, so nothing in it is required.
      data: { ...data, required: [], properties: { code: { type: 'string' }, ...(data.properties as object) }, additionalProperties: true },
    },
    required: ['status', 'message', 'feedback', 'data'],
    additionalProperties: false,
  }),
};

/** Renders a successful reply as its data. A refusal is `{code, message, recoverable, suggestion}` plus its details. */
const plain: Envelope = {
  render(reply) {
    if (reply.status === 'ok' || reply.status === 'warning') return reply.data as Record<string, unknown>;
    return { ...(reply.data as object), code: reply.code, message: reply.message, recoverable: reply.code !== 'INTERNAL', suggestion: reply.next };
  },
  schema: (data) => orRefusal(data, ['code', 'message', 'recoverable', 'suggestion']),
};

/** Like `plain`, but a refusal also names the tool and the calling instance. */
const review: Envelope = {
  render(reply, about = {}) {
    const body = plain.render(reply);
    if (reply.status === 'ok' || reply.status === 'warning') return body;
    return { ...(about.instance ? { instance_id: about.instance } : {}), ...body, tool_name: about.tool };
  },
  schema: (data) => orRefusal(data, ['code', 'message', 'recoverable', 'suggestion', 'tool_name']),
};

/** Codes with a different name in the cycle contract. */
const CYCLE_CODES: Readonly<Record<string, string>> = { INVALID_INPUT: 'SCHEMA_INVALID', INTERNAL: 'INTERNAL_ERROR' };

const cycle: Envelope = {
  render(reply) {
    if (reply.status === 'ok' || reply.status === 'warning') return { ok: true, data: reply.data };
    return {
      ok: false,
      error: { code: CYCLE_CODES[reply.code] ?? reply.code, message: reply.message, details: { ...(reply.data as object), next: reply.next } },
    };
  },
  schema: (data) => ({
    type: 'object',
    properties: {
      ok: { type: 'boolean' },
      data,
      error: {
        type: 'object',
        properties: { code: { type: 'string' }, message: { type: 'string' }, details: { type: 'object' } },
        required: ['code', 'message', 'details'],
        additionalProperties: false,
      },
    },
    required: ['ok'],
    additionalProperties: false,
  }),
};

/** Renders an MCP tool result, with the content of the tool and its data as structured content. */
const content: Envelope = {
  isToolResult: true,
  render(reply, { content: present } = {}) {
    if (reply.status === 'error' || reply.status === 'blocked') {
      const structuredContent = { ...(reply.data as object), code: reply.code, message: reply.message, next: reply.next };
      return { content: [{ type: 'text', text: `${reply.code}: ${reply.message} ${reply.next}` }], structuredContent, isError: isError(reply) };
    }
    const data = reply.data as Record<string, unknown>;
    return { content: present?.(data) ?? [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data, isError: false };
  },
  schema: (data) => orRefusal(data, ['code', 'message', 'next']),
};

/** A refusal may use this field for the state of the conflicting object. So the schema restricts its values only in successful results. */
const TOLD_OTHERWISE = 'status';

/** Returns a schema for either the data or a refusal. It does not use a top-level `oneOf`, because some clients cannot parse that. */
function orRefusal(data: JsonSchema, refusal: readonly string[]): JsonSchema {
  const fields = Object.fromEntries(refusal.map((field) => [field, field === 'recoverable' ? { type: 'boolean' } : { type: 'string' }]));
  const { required = [], additionalProperties: _, properties, ...rest } = data;
  const { [TOLD_OTHERWISE]: status, ...others } = properties as Record<string, JsonSchema>;
  return {
    ...rest,
    type: 'object',
    properties: { ...fields, ...others, ...(status && { [TOLD_OTHERWISE]: { type: 'string' } }) },
    if: { required: refusal },
    else: { required, ...(status && { properties: { [TOLD_OTHERWISE]: status } }) },
  };
}

export const ENVELOPES: Record<Toolset, Envelope> = {
  team,
  review,
  workflow: plain,
  gateway: content,
  cycle,
  admin: plain,
};

/** `blocked` and `warning` are answers; only `error` is an error. */
export const isError = (reply: Reply<unknown>): boolean => reply.status === 'error';

/**
 * Thrown by a rule that refuses a call, with a stable code and the next step. If it is thrown inside a write, the write is rolled
 * back. To keep what was written, for example a stored warning, return the refusal as a reply instead.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string;
  readonly next: string;
  readonly details: Record<string, unknown>;

  constructor(code: string, message: string, next: string, details: Record<string, unknown> = {}) {
    super(message);
    this.code = code;
    this.next = next;
    this.details = details;
  }
}

/** For objects that do not exist or that the caller may not see. Both cases must give the same message. */
export const notFound = (code: `${string}_NOT_FOUND`, message: string, next: string, field?: string): Refusal =>
  new Refusal(code, message, next, field === undefined ? {} : { field });

/** For requests that the object's state does not allow. */
export const invalidState = (message: string, next: string, details?: Record<string, unknown>): Refusal => new Refusal('INVALID_STATE', message, next, details);

export interface InputIssue {
  /** The path of the invalid field, such as `candidates[0].reason`. Empty if the whole input is invalid. */
  field: string;
  message: string;
}

/** The maximum number of invalid fields that a refusal names, so that a large invalid input does not cause a large answer. */
const MAX_ISSUES = 10;
/** The number of those fields that the next step repeats. */
const MAX_NAMED = 3;

export function invalidInput(all: readonly InputIssue[], codes: Readonly<Record<string, string>> = {}): Refusal {
  const issues = all.slice(0, MAX_ISSUES).map(({ field, message }) => ({ field: shortened(field), message }));
  const text = issues.map(({ field, message }) => (field ? `${field}: ${message}` : message)).join('; ');
  const named = [...new Set(issues.filter(({ field }) => field).map(({ field }) => `\`${field}\``))].slice(0, MAX_NAMED);
  const coded = Object.keys(codes).find((name) => all.some(({ field }) => field === name));
  const code = coded === undefined ? 'INVALID_INPUT' : (codes[coded] as string);
  return new Refusal(code, `Invalid input: ${text}.`, `Correct ${named.join(', ') || 'the input'} and call again.`, {
    field: coded ?? issues[0]?.field ?? '',
    issues,
  });
}

const shortened = (field: string): string => (field.length > 60 ? `${field.slice(0, 60)}…` : field);

import { z } from 'zod';
import type { CallRequest } from './call.ts';
import type { Access, Annotations, Contract, Toolset } from './contract.ts';
import type { AccessRequest, CallKind } from './ports.ts';
import { NO_TOOLS, type ToolSource } from './relay.ts';
import { ENVELOPES, type Envelope, type JsonSchema, Refusal } from './reply.ts';
import type { Implementation } from './tool.ts';

/** Every tool and every action of the running server. Tools are for agents; actions are for operators and the dashboard. */
export class Registry {
  readonly #tools: ReadonlyMap<string, PublishedTool>;
  readonly #actions: ReadonlyMap<string, PublishedTool>;
  /** Tools of the other servers that serve a workspace, which come and go. */
  readonly external: (workspace: string) => ToolSource;

  constructor(implementations: readonly Implementation[], external: (workspace: string) => ToolSource = () => NO_TOOLS) {
    this.external = external;
    const isTool = ({ contract }: Implementation) => contract.access === 'capability';
    this.#tools = byName(publish(implementations.filter(isTool)));
    this.#actions = byName(publish(implementations.filter((implementation) => !isTool(implementation))));
  }

  tool(name: string): PublishedTool | undefined {
    return this.#tools.get(name);
  }

  action(name: string): PublishedTool | undefined {
    return this.#actions.get(name);
  }

  /** Whether a call does work that others wait for. */
  isEssential({ noun, name, args }: { readonly noun: CallKind; readonly name: string; readonly args: unknown }): boolean {
    const called = noun === 'tool' ? this.tool(name) : noun === 'action' ? this.action(name) : undefined;
    const operation = isRecord(args) && typeof args.operation === 'string' ? args.operation : '';
    const implementation = called?.operations.get(null) ?? called?.operations.get(operation);
    return implementation?.contract.essential === true;
  }

  /** The product's own, sorted by name, so that a list is the same each time. */
  tools(): readonly PublishedTool[] {
    return [...this.#tools.values()];
  }

  actions(): readonly PublishedTool[] {
    return [...this.#actions.values()];
  }

  /** A call's arguments as they may be kept and shown: without secrets, and with the place that is meant where they name none. */
  redactedArgs(noun: CallKind, name: string, args: unknown, { repository, place }: Pick<CallRequest, 'repository' | 'place'>): unknown {
    const shown = withoutSecrets(args, this.#secretsOf(noun, name));
    const fields = shown ?? {};
    if (noun !== 'tool' || !isRecord(fields)) return shown;
    const placed = contractsOf(this.#tools.get(name)).find(({ operation }) => operation === undefined || operation === fields.operation)?.placed;
    const meant = placed && { repository_path: repository, repo: place?.repo }[placed];
    return placed && meant ? { [placed]: meant, ...fields } : shown;
  }

  /** The fields of a call's arguments that hold secrets. One with a misspelt name, or a tool's among actions, is recorded all the same. */
  #secretsOf(noun: CallKind, name: string): readonly string[] {
    if (noun !== 'tool' && noun !== 'action') return [];
    const found = (noun === 'action' ? this.#actions.get(name) : undefined) ?? this.#tools.get(name);
    const meant = found ? [found] : this.#namedLike(name);
    return meant.flatMap(contractsOf).flatMap(({ secrets }) => secrets ?? []);
  }

  #namedLike(name: string): readonly PublishedTool[] {
    const toolset = namespaceOf(name);
    return toolset === undefined ? [] : this.tools().filter((tool) => tool.toolset === toolset);
  }

  /** What the gate may know of a name before it is looked up: native names are public, other servers' are not. */
  toolsetOf(name: string): Toolset | undefined {
    return this.#tools.get(name)?.toolset;
  }
}

const contractsOf = (tool: PublishedTool | undefined): Contract[] => [...(tool?.operations.values() ?? [])].map(({ contract }) => contract);

const byName = (tools: readonly PublishedTool[]): ReadonlyMap<string, PublishedTool> => new Map(tools.map((tool) => [tool.name, tool]));

export const accessOf = (action: PublishedTool): Access => [...action.operations.values()][0]?.contract.access ?? 'operator';

/** A tool as callers see it: one name, one flat schema, one or several operations behind it. */
export interface PublishedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly toolset: Toolset;
  readonly annotations: Annotations;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly envelope: Envelope;
  /** The operation's implementation; a tool without operations has one, under `null`. */
  readonly operations: ReadonlyMap<string | null, Implementation>;
}

const MAX_DESCRIPTION = 4_000;

/** Merges the operations of each name into one published tool. Throws on a contract that clients could not use. */
export function publish(implementations: readonly Implementation[]): PublishedTool[] {
  const byName = Map.groupBy(implementations, ({ contract }) => contract.name);
  const tools = [...byName].map(([name, members]) => publishOne(name, members));
  const seen = new Map<string, string>();
  for (const { name } of tools) {
    const folded = name.replaceAll('.', '_');
    const other = seen.get(folded);
    if (other) throw new Error(`tools ${other} and ${name} are one name to clients that write "." as "_"`);
    seen.set(folded, name);
  }
  return tools.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function publishOne(name: string, members: readonly Implementation[]): PublishedTool {
  const [first] = members as [Implementation];
  const operations = new Map(members.map((member) => [member.contract.operation ?? null, member]));
  if (operations.size !== members.length) throw new Error(`tool ${name} has an operation twice`);
  if (operations.has(null) && operations.size > 1) throw new Error(`tool ${name} mixes operations with a contract that has none`);
  const contracts = members.map((member) => member.contract);
  const plain = operations.has(null);
  const description = plain ? first.contract.description : aboutOf(name, contracts);
  if (description.length > MAX_DESCRIPTION) throw new Error(`tool ${name} has a description of ${description.length} characters`);
  const envelope = ENVELOPES[first.contract.toolset];
  return {
    name,
    title: first.contract.title,
    description,
    toolset: first.contract.toolset,
    annotations: mergedAnnotations(contracts),
    inputSchema: plain ? jsonSchema(first.contract.input, 'input') : mergedInput(name, contracts),
    outputSchema: envelope.schema(plain ? jsonSchema(first.contract.output, 'output') : mergedOutput(contracts)),
    envelope,
    operations,
  };
}

function aboutOf(name: string, contracts: readonly Contract[]): string {
  const about = contracts.find((contract) => contract.about !== undefined)?.about;
  if (about === undefined) throw new Error(`tool ${name} says what each operation does, and nowhere what it is for`);
  return about;
}

/** What each operation does stands in the schema, which clients fetch for the tools that they use; the tool's description is part of every agent's primer. */
function operationsDescription(contracts: readonly Contract[]): string {
  return contracts.map((contract) => `${contract.operation}: ${contract.description}`).join('\n');
}

/** The tool reads only if every operation does, and destroys if any does. */
function mergedAnnotations(contracts: readonly Contract[]): Annotations {
  const all = (key: keyof Annotations) => contracts.every((contract) => contract.annotations[key]);
  const any = (key: keyof Annotations) => contracts.some((contract) => contract.annotations[key]);
  return {
    readOnlyHint: all('readOnlyHint'),
    destructiveHint: any('destructiveHint'),
    idempotentHint: all('idempotentHint'),
    openWorldHint: any('openWorldHint'),
  };
}

/** A top-level `oneOf` makes some clients drop the tool: every operation's fields stand side by side, `operation` required. */
function mergedInput(name: string, contracts: readonly Contract[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    operation: { type: 'string', enum: contracts.map((contract) => contract.operation), description: operationsDescription(contracts) },
  };
  const users = new Map<string, { takes: string[]; requires: string[] }>();
  for (const contract of contracts) {
    const schema = jsonSchema(contract.input, 'input');
    const required = new Set(schema.required as string[] | undefined);
    for (const [field, fieldSchema] of Object.entries(schema.properties as Record<string, JsonSchema>)) {
      const known = properties[field];
      if (known && JSON.stringify(known) !== JSON.stringify(fieldSchema)) {
        throw new Error(`tool ${name}: field ${field} of operation ${contract.operation} has another schema than in an earlier operation`);
      }
      properties[field] = fieldSchema;
      const use = users.get(field) ?? { takes: [], requires: [] };
      (required.has(field) ? use.requires : use.takes).push(contract.operation as string);
      users.set(field, use);
    }
  }
  for (const [field, use] of users) properties[field] = { ...properties[field], description: usedBy(properties[field], use) };
  return { type: 'object', properties, required: ['operation'], additionalProperties: false };
}

function usedBy(schema: JsonSchema | undefined, { takes, requires }: { takes: string[]; requires: string[] }): string {
  const notes = [
    schema?.description,
    requires.length > 0 ? `Required by ${requires.join(', ')}.` : undefined,
    takes.length > 0 ? `Optional in ${takes.join(', ')}.` : undefined,
  ];
  return notes.filter((note) => note !== undefined).join(' ');
}

function mergedOutput(contracts: readonly Contract[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const contract of contracts) {
    for (const [field, schema] of Object.entries(jsonSchema(contract.output, 'output').properties as Record<string, JsonSchema>)) {
      const known = properties[field];
      properties[field] = known && JSON.stringify(known) !== JSON.stringify(schema) ? {} : schema;
    }
  }
  return { type: 'object', properties, additionalProperties: false };
}

function jsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return rest;
}

/** A second name of a tool, under which it may be called too. It is also the name of its permission. */
const ALIASES: Readonly<Record<string, string>> = { create_pr: 'create_pull_request' };
export const ALIAS_NAMES: readonly string[] = Object.keys(ALIASES);
const PERMISSIONS = new Map(Object.entries(ALIASES).map(([alias, tool]) => [tool, alias]));

export const toolNamed = (name: string): string => (Object.hasOwn(ALIASES, name) ? (ALIASES[name] as string) : name);

const MAX_NAME = 128;

/** A longer name is no tool's, nor one with a NUL, which PostgreSQL cannot keep; what stands for it is no tool's either. */
export function storableName(name: string): string {
  const whole = name.replaceAll('\0', '\uFFFD');
  return whole.length > MAX_NAME ? `${whole.slice(0, MAX_NAME - 1)}…` : whole;
}

/** What stands behind `tool.call.` in the grant that opens the tool. */
export const permissionOf = (tool: string): string => PERMISSIONS.get(toolNamed(tool)) ?? tool;

const VERBS = { tool: 'tool.call', resource: 'resource.read', prompt: 'prompt.get' } as const satisfies Record<AccessRequest['noun'], string>;

/** The capability that names exactly this. */
export const capabilityFor = (noun: AccessRequest['noun'], name: string): string => `${VERBS[noun]}.${noun === 'tool' ? permissionOf(name) : name}`;

/**
 * Which contract a name belongs to, whether or not the tool exists. Such names are public, so a caller who holds that
 * contract's grant may be told that a tool does not exist; nobody learns which other servers' tools exist.
 */
export function namespaceOf(tool: string): Toolset | undefined {
  if (tool.startsWith('covibe_')) return 'team';
  if (/^(cycle|session|lock|handoff)\./.test(tool)) return 'cycle';
  if (/^(workflow|task|checkpoint|workspace|repository|template|agent|message)_/.test(tool)) return 'workflow';
  return undefined;
}

/** The arguments as they may be kept and shown. Even the digest of a short secret would tell it to whoever has the time to guess. */
function withoutSecrets(args: unknown, secrets: readonly string[]): unknown {
  if (secrets.length === 0 || !isRecord(args)) return args;
  return Object.fromEntries(Object.entries(args).map(([field, value]) => [field, secrets.includes(field) ? '[redacted]' : value]));
}

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

import type { z } from 'zod';
import type { CallRequest } from './call.ts';
import { type Access, type Contract, isForType, type Toolset } from './contract.ts';
import type { AccessRequest, CallKind } from './ports.ts';
import { type PublishedTool, publish } from './publish.ts';
import { NO_TOOLS, type ToolSource } from './relay.ts';
import { type InputIssue, invalidInput } from './reply.ts';
import type { Implementation } from './tool.ts';

/** All tools and actions of the running server. Tools are for agents; actions are for operators and the dashboard. */
export class Registry {
  readonly #tools: ReadonlyMap<string, PublishedTool>;
  readonly #actions: ReadonlyMap<string, PublishedTool>;
  /** Returns the tools of the external servers of a workspace. These tools can change at any time. */
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

  /** Whether the called tool or action is essential, because others wait for the work that it ends, renews or hands over. */
  isEssential({ noun, name, args }: { readonly noun: CallKind; readonly name: string; readonly args: unknown }): boolean {
    const called = noun === 'tool' ? this.tool(name) : noun === 'action' ? this.action(name) : undefined;
    const operation = isRecord(args) && typeof args.operation === 'string' ? args.operation : '';
    const implementation = called?.operations.get(null) ?? called?.operations.get(operation);
    return implementation?.contract.essential === true;
  }

  /** The product's own tools, sorted by name, so that the list is stable. */
  tools(): readonly PublishedTool[] {
    return [...this.#tools.values()];
  }

  actions(): readonly PublishedTool[] {
    return [...this.#actions.values()];
  }

  /** The arguments of a call as they may be stored and shown: without secrets, and with the default repository filled in. */
  redactedArgs(noun: CallKind, name: string, args: unknown, { repository, place }: Pick<CallRequest, 'repository' | 'place'>): unknown {
    const shown = withoutSecrets(args, this.#secretsOf(noun, name));
    const fields = shown ?? {};
    if (noun !== 'tool' || !isRecord(fields)) return shown;
    const placed = contractsOf(this.#tools.get(name)).find(({ operation }) => operation === undefined || operation === fields.operation)?.placed;
    const meant = placed && { repository_path: repository, repo: place?.repo }[placed];
    return placed && meant ? { [placed]: meant, ...fields } : shown;
  }

  /**
   * Returns the argument fields that contain secrets. If the tool name is misspelt, these are the secret fields of all tools in
   * the toolset that the name belongs to.
   */
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

  /** Whether agents of this type may call the tool. Tools of other servers are for all types. */
  isForType(name: string, type: string): boolean {
    return contractsOf(this.#tools.get(name)).every((contract) => isForType(contract, type));
  }

  /** The toolset of a native tool. Undefined for tools of other servers, because their names are not public. */
  toolsetOf(name: string): Toolset | undefined {
    return this.#tools.get(name)?.toolset;
  }
}

const contractsOf = (tool: PublishedTool | undefined): Contract[] => [...(tool?.operations.values() ?? [])].map(({ contract }) => contract);

const byName = (tools: readonly PublishedTool[]): ReadonlyMap<string, PublishedTool> => new Map(tools.map((tool) => [tool.name, tool]));

export const accessOf = (action: PublishedTool): Access => [...action.operations.values()][0]?.contract.access ?? 'operator';

/** Second names under which tools may be called. Grants for these tools also use the second name. */
const ALIASES: Readonly<Record<string, string>> = { create_pr: 'create_pull_request' };
export const ALIAS_NAMES: readonly string[] = Object.keys(ALIASES);
const PERMISSIONS = new Map(Object.entries(ALIASES).map(([alias, tool]) => [tool, alias]));

export const toolNamed = (name: string): string => (Object.hasOwn(ALIASES, name) ? (ALIASES[name] as string) : name);

const MAX_NAME = 128;

/** The name as it can be stored: shortened, and without NUL, which PostgreSQL rejects. No real tool name is changed by this. */
export function storableName(name: string): string {
  const whole = name.replaceAll('\0', '\uFFFD');
  return whole.length > MAX_NAME ? `${whole.slice(0, MAX_NAME - 1)}…` : whole;
}

/** The part after `tool.call.` in the grant for this tool. */
export const permissionOf = (tool: string): string => PERMISSIONS.get(toolNamed(tool)) ?? tool;

const VERBS = { tool: 'tool.call', resource: 'resource.read', prompt: 'prompt.get' } as const satisfies Record<AccessRequest['noun'], string>;

/** The capability for exactly this tool, resource server or prompt. */
export const capabilityFor = (noun: AccessRequest['noun'], name: string): string => `${VERBS[noun]}.${noun === 'tool' ? permissionOf(name) : name}`;

/**
 * The contract that a name belongs to, whether or not the tool exists. These names are public, so a caller who has that
 * contract's grant may learn that a tool does not exist. Nobody learns which tools of other servers exist.
 */
export function namespaceOf(tool: string): Toolset | undefined {
  if (tool.startsWith('covibe_')) return 'team';
  if (/^(cycle|session|lock|handoff)\./.test(tool)) return 'cycle';
  if (/^(workflow|task|checkpoint|workspace|repository|template|agent|message)_/.test(tool)) return 'workflow';
  return undefined;
}

/** The arguments as they may be stored and shown. A digest of a short secret could be guessed, so the secret itself is removed. */
function withoutSecrets(args: unknown, secrets: readonly string[]): unknown {
  if (secrets.length === 0 || !isRecord(args)) return args;
  return Object.fromEntries(Object.entries(args).map(([field, value]) => [field, secrets.includes(field) ? '[redacted]' : value]));
}

/** No contract accepts JSON that is nested deeper. Deeper input would only overflow the stack of recursive functions. */
const MAX_DEPTH = 64;

/** The input field in which a call to a team tool names its agent session. */
export const SESSION_FIELD = 'session_id';

export const linksSession = ({ toolset, input }: Contract): boolean => toolset === 'team' && SESSION_FIELD in input.shape;

/** Returns the operation that the caller chose, and the other input fields, which the schema of that operation validates. */
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

/** Returns the validated input, or throws a refusal that names the invalid fields. */
export function parseInput(contract: Pick<Contract, 'input' | 'inputCodes'>, value: unknown): Record<string, unknown> {
  const hostile = findUnstorable(value, '', 0);
  if (hostile) throw invalidInput([hostile], contract.inputCodes);
  const result = contract.input.safeParse(value);
  if (result.success) return result.data;
  throw invalidInput(issuesOf(result.error), contract.inputCodes);
}

/** `under`: the path of the value in the input, if it is not the whole input. */
export const issuesOf = (error: z.ZodError, ...under: PropertyKey[]): InputIssue[] =>
  error.issues.flatMap((issue) => describe(issue, [...under, ...issue.path]));

function describe(issue: z.core.$ZodIssue, at: readonly PropertyKey[]): InputIssue[] {
  const path = fieldName(at);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: fieldName([...at, key]), message: 'unknown field' }));
  }
  // The field accepts any value, but it is required and missing.
  if (issue.code === 'invalid_type' && (issue.expected as string) === 'nonoptional') return [{ field: path, message: 'expected a value' }];
  return [{ field: path, message: issue.message.replace(/^Invalid input: /, '') }];
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index ? '.' : ''}${String(part)}`)).join('');
}

/** Finds values that JSON allows and databases do not: NUL, a lone surrogate, an infinite number, and nesting that is too deep. */
function findUnstorable(value: unknown, field: string, depth: number): InputIssue | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return { field, message: 'contains a NUL character' };
    if (!value.isWellFormed()) return { field, message: 'contains a lone surrogate (half of a UTF-16 pair)' };
    return undefined;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return { field, message: 'is a number outside the range of a double' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= MAX_DEPTH) return { field, message: `is nested deeper than ${MAX_DEPTH} levels` };
  for (const [key, inner] of Object.entries(value)) {
    const name = Array.isArray(value) ? `${field}[${key}]` : field ? `${field}.${key}` : key;
    // Schemas of free-form objects would silently drop this key.
    if (key === '__proto__') return { field: name, message: 'is not allowed as a field name' };
    const found = findUnstorable(key, name, depth) ?? findUnstorable(inner, name, depth + 1);
    if (found) return found;
  }
  return undefined;
}

export const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

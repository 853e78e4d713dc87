import { z } from 'zod';
import { withoutCredentials } from './repo.ts';

/** Groups of tools that are listed and granted together. `admin` is never published over MCP. */
export const TOOLSETS = ['team', 'review', 'workflow', 'gateway', 'cycle', 'admin'] as const;
export type Toolset = (typeof TOOLSETS)[number];

/**
 * The right that a caller needs. `capability`: a grant. `member`: signed in to the dashboard. `operator`: operator rights in the
 * workspace, which its first developer also has. `machine`: operator rights, plus permission from the server's operator to run
 * programs on its machine. `server`: the operator of the whole server and its files. `token`: a token that acts for a developer,
 * such as the one in an agent's hooks.
 */
export type Access = 'capability' | 'member' | 'operator' | 'machine' | 'server' | 'token';

export interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The input and output of a tool, or of one operation of it. It is a plain value that surfaces, docs and snapshots read. */
export interface Contract<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** Set if one published tool has several operations. Each operation has its own contract. */
  readonly operation?: string;
  /** The purpose of a tool with several operations, given by one of their contracts. All callers read it before their first call. */
  readonly about?: string;
  readonly toolset: Toolset;
  readonly access: Access;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly annotations: Annotations;
  /** May be called in a workspace that does not exist yet, and creates it. */
  readonly opensWorkspace?: true;
  /** Input fields that contain a secret. Neither their values nor a digest of them may be stored. */
  readonly secrets?: readonly string[];
  /**
   * If this field is omitted, it is set to the repository that the caller's client reports, by path or by name. The value is then
   * part of the request.
   */
  readonly placed?: 'repository_path' | 'repo';
  /** Error codes that this contract uses for a missing or malformed input field. The first match is used. */
  readonly inputCodes?: Readonly<Record<string, string>>;
  /** Called so often that successful calls are not journaled. The handler records what it changed, delivered or denied. */
  readonly quiet?: true;
  /**
   * Ends, renews or hands over work that others wait for, so a used-up quota does not refuse it. Refusing a heartbeat, a release
   * or a completion would hold up the team rather than the caller.
   */
  readonly essential?: true;
  /** Gives out rights or secrets, so a dashboard session may call it only shortly after its sign-in. */
  readonly fresh?: true;
  /** Of the agents that the server starts, only agents of this type may call it. */
  readonly agentType?: string;
  /** A documented route for signed-in people, besides `/api/actions/<name>`. */
  readonly route?: `${'GET' | 'POST'} /api/${string}`;
}

type ContractSpec<I extends z.ZodObject, O extends z.ZodObject> = Omit<Contract<I, O>, 'annotations' | 'access'> & {
  readonly access?: Access;
  readonly annotations?: Partial<Annotations>;
};

/** For tools that only read. */
export const READ = { readOnlyHint: true, idempotentHint: true } as const satisfies Partial<Annotations>;

/** For actions that only read: MEMBER_READ is open to every member, OPERATOR_READ to operators. */
export const MEMBER_READ = { toolset: 'admin', access: 'member', annotations: READ } as const;
export const OPERATOR_READ = { toolset: 'admin', access: 'operator', annotations: READ } as const;

/** The defaults: a tool changes only our own store and destroys nothing. */
const DEFAULTS: Annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

/** The return type keeps name and toolset, because the dashboard derives the types of its calls from them. */
export function contract<I extends z.ZodObject, O extends z.ZodObject, const N extends string, const T extends Toolset>(
  spec: ContractSpec<I, O> & { readonly name: N; readonly toolset: T },
): Contract<I, O> & { readonly name: N; readonly toolset: T } {
  return { access: spec.toolset === 'admin' ? 'operator' : 'capability', ...spec, annotations: { ...DEFAULTS, ...spec.annotations } };
}

/** The input as a caller sends it, where fields with defaults may be missing. */
export type Sent<C extends Contract> = z.input<C['input']>;
/** The input as the handler receives it. */
export type Input<C extends Contract> = z.output<C['input']>;
export type Output<C extends Contract> = z.input<C['output']>;

/** Whether an agent of `type` may call this. The tool list and the refusal both use it. */
export const isForType = ({ agentType }: Pick<Contract, 'agentType'>, type: string): boolean => agentType === undefined || agentType === type;

/** Input fields that several contracts share. One name has one schema within a tool, so each is defined once. */

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

/** Free-form JSON from the agent, limited in size. */
export const details = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= JSON_LIMIT, { error: `expected at most ${JSON_LIMIT} characters of JSON` });

export const repo = z
  .string()
  .trim()
  .overwrite(withoutCredentials)
  .min(1)
  .max(300)
  .describe('The repository: its remote URL or its name. Default for sessions and claims: the one your bridge runs in.');
export const branch = z.string().trim().min(1).max(300);

/** A path inside a repository, with forward slashes and without `.` or `..`. */
export const repoPath = z
  .string()
  .min(1)
  .max(500)
  .refine((path) => !/^[/\\~]|^[A-Za-z]:|\\|(^|\/)\.\.?(\/|$)|\/$|\/\//.test(path), {
    error: 'expected a path relative to the repository, with forward slashes and without "." or ".."',
  });

/** For calls that make no sense without a session. */
export const ownSessionId = id.describe('Your session, from covibe_session start. Links the call to it.');
export const sessionId = ownSessionId.optional();

/** The canonical spelling: without a trailing slash and, on systems where double slashes mean nothing, without doubled slashes. */
const tidied = (path: string): string => {
  const single = path.startsWith('/') ? path.replace(/\/{2,}/g, '/') : path;
  return /^([A-Za-z]:)?[\\/]+$/.test(single) ? single : single.replace(/[\\/]+$/, '');
};

/** An absolute path on any system, without `.` or `..`. */
export const absolutePath = z
  .string()
  .trim()
  .max(1_000)
  .overwrite(tidied)
  .refine((path) => /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path) && !/(^|[\\/])\.\.?([\\/]|$)|\p{Cc}/u.test(path), {
    error: 'expected an absolute path without "." or ".."',
  });

export const repositoryPath = absolutePath.describe("The repository's absolute path. Default: the one your bridge or CLI reports.");

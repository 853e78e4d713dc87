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

/**
 * Describes the input and output of a tool, or of one operation of a tool. A contract is plain data, so that the MCP server, the
 * CLI, the documentation and the snapshots can all read it.
 */
export interface Contract<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** Set if one published tool has several operations. Each operation has its own contract. */
  readonly operation?: string;
  /** The purpose of a tool with several operations, set in the contract of one of them. Agents read it in the tool list, before their first call. */
  readonly about?: string;
  readonly toolset: Toolset;
  readonly access: Access;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly annotations: Annotations;
  /** True if the call may name a workspace that does not exist yet. The call then creates the workspace. */
  readonly opensWorkspace?: true;
  /** Input fields that contain a secret. Neither their values nor a digest of them may be stored. */
  readonly secrets?: readonly string[];
  /**
   * An input field with the path or name of a repository. If the caller omits it, the server sets it to the repository that the
   * caller's client reports. From then on, the value is part of the request.
   */
  readonly placed?: 'repository_path' | 'repo';
  /**
   * Error codes for missing or malformed input fields, by field name. If several of these fields are invalid, the first code in
   * this list is used.
   */
  readonly inputCodes?: Readonly<Record<string, string>>;
  /** Successful calls are not journaled, because there are too many of them. Instead, the handler records what it changed, delivered or denied. */
  readonly quiet?: true;
  /**
   * The call is allowed even if the token has used up its journal quota, because it ends, renews or hands over work that others
   * wait for. Refusing a heartbeat, a release or a completion would hold up the whole team.
   */
  readonly essential?: true;
  /** The action gives out rights or secrets, so a dashboard session may use it only shortly after the person signed in. */
  readonly fresh?: true;
  /** An agent that was started by the server may call the tool only if the agent has this type. */
  readonly agentType?: string;
  /** A second, documented HTTP route for signed-in people. The first one is always `/api/actions/<name>`. */
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

/** The return type contains the literal name and toolset, because the dashboard derives the types of its calls from them. */
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

/** Whether an agent of this type may call the tool. Both the tool list and the check of each call use this function. */
export const isForType = ({ agentType }: Pick<Contract, 'agentType'>, type: string): boolean => agentType === undefined || agentType === type;

/** Input fields that several contracts share. They are defined once, because a field must have the same schema in all operations of a tool. */

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

/** For calls that require a session. */
export const ownSessionId = id.describe('Your session, from covibe_session start. Links the call to it.');
export const sessionId = ownSessionId.optional();

/** Returns the canonical spelling of a path: without trailing slashes and, if the path starts with `/`, without doubled slashes. */
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

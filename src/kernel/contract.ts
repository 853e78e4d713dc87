import { z } from 'zod';
import { withoutCredentials } from './repo.ts';

/** Groups of tools that are listed and granted together. `admin` is never published over MCP. */
export const TOOLSETS = ['team', 'review', 'workflow', 'gateway', 'cycle', 'admin'] as const;
export type Toolset = (typeof TOOLSETS)[number];

/**
 * What a caller must have. `capability`: a grant. `member`: signed in to the dashboard. `operator`: operator rights in the
 * workspace, which its first developer has too. `machine`: those, and the permission of the server's operator to run programs on its
 * machine. `server`: the operator of the whole server and its files. `token`: a token that
 * acts for a developer, as an agent's own hooks have it.
 */
export type Access = 'capability' | 'member' | 'operator' | 'machine' | 'server' | 'token';

export interface Annotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The input and output of a tool, or of one operation of it. It is a value, which surfaces, docs and snapshots read. */
export interface Contract<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** Set where one published tool has several operations, each with a contract of its own. */
  readonly operation?: string;
  /** What the whole tool is for, where it has several operations: one of their contracts says it. All callers read it before they call anything. */
  readonly about?: string;
  readonly toolset: Toolset;
  readonly access: Access;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: O;
  readonly annotations: Annotations;
  /** May be called in a workspace that does not exist yet, and makes it. */
  readonly opensWorkspace?: true;
  /** Input fields that hold a secret: nothing that is kept of a call has their values, nor a digest of them. */
  readonly secrets?: readonly string[];
  /** Where this field is left out, the repository that the caller's client reports is meant, by its path or its name: it is part of what is asked for. */
  readonly placed?: 'repository_path' | 'repo';
  /** What this contract calls a missing or malformed field of its input, where it has a code of its own for that; the first counts. */
  readonly inputCodes?: Readonly<Record<string, string>>;
  /** Asked so often that a call which went well is not kept: what it changed, delivered or denied its handler records. */
  readonly quiet?: true;
  /**
   * Ends, renews or hands over work that others wait for: a used-up quota does not refuse it. Refusing a heartbeat, a release or a
   * completion would hold up the team rather than the caller.
   */
  readonly essential?: true;
  /** Gives out rights or secrets: a dashboard session may call it only shortly after its sign-in. */
  readonly fresh?: true;
  /** Only agents of this type may call it, among the agents that the server starts. */
  readonly agentType?: string;
  /** A documented address of its own for a signed-in person, besides `/api/actions/<name>`. */
  readonly route?: `${'GET' | 'POST'} /api/${string}`;
}

type ContractSpec<I extends z.ZodObject, O extends z.ZodObject> = Omit<Contract<I, O>, 'annotations' | 'access'> & {
  readonly access?: Access;
  readonly annotations?: Partial<Annotations>;
};

/** For tools that only read. */
export const READ = { readOnlyHint: true, idempotentHint: true } as const satisfies Partial<Annotations>;

/** For actions that only read: of every member, and of operators only. */
export const MEMBER_READ = { toolset: 'admin', access: 'member', annotations: READ } as const;
export const OPERATOR_READ = { toolset: 'admin', access: 'operator', annotations: READ } as const;

/** A tool changes things in our own store, and not destructively, unless its contract says otherwise. */
const DEFAULTS: Annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };

/** Its type keeps name and toolset: the dashboard derives the types of its calls from them. */
export function contract<I extends z.ZodObject, O extends z.ZodObject, const N extends string, const T extends Toolset>(
  spec: ContractSpec<I, O> & { readonly name: N; readonly toolset: T },
): Contract<I, O> & { readonly name: N; readonly toolset: T } {
  return { access: spec.toolset === 'admin' ? 'operator' : 'capability', ...spec, annotations: { ...DEFAULTS, ...spec.annotations } };
}

/** The input as a caller sends it, where fields with defaults may be missing. */
export type Sent<C extends Contract> = z.input<C['input']>;
/** The input as the handler gets it. */
export type Input<C extends Contract> = z.output<C['input']>;
export type Output<C extends Contract> = z.input<C['output']>;

/** Whether an agent of `type` may call this. The tool list and the refusal both use it. */
export const isForType = ({ agentType }: Pick<Contract, 'agentType'>, type: string): boolean => agentType === undefined || agentType === type;

/** Input fields that several contracts share. Within one tool a name has one schema, so each is written once. */

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

/** Free JSON of the agent's own, bounded. */
export const details = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= JSON_LIMIT, { error: `expected at most ${JSON_LIMIT} characters of JSON` });

export const repo = z
  .string()
  .trim()
  .overwrite(withoutCredentials)
  .min(1)
  .max(300)
  .describe('The repository, as your team names it: its remote URL or its name. Default for sessions and claims: where your bridge stands.');
export const branch = z.string().trim().min(1).max(300);

/** A path inside a repository, written with forward slashes and without detours. */
export const repoPath = z
  .string()
  .min(1)
  .max(500)
  .refine((path) => !/^[/\\~]|^[A-Za-z]:|\\|(^|\/)\.\.?(\/|$)|\/$|\/\//.test(path), {
    error: 'expected a path relative to the repository, with forward slashes and without "." or ".."',
  });

/** Where a call makes no sense without one. */
export const ownSessionId = id.describe('Your session, from covibe_session start: the call is linked to it.');
export const sessionId = ownSessionId.optional();

/** One way to write it: without a slash at its end, and on systems where two slashes are as good as one, without doubled ones. */
const tidied = (path: string): string => {
  const single = path.startsWith('/') ? path.replace(/\/{2,}/g, '/') : path;
  return /^([A-Za-z]:)?[\\/]+$/.test(single) ? single : single.replace(/[\\/]+$/, '');
};

/** An absolute path, of whichever system, without detours. */
export const absolutePath = z
  .string()
  .trim()
  .max(1_000)
  .overwrite(tidied)
  .refine((path) => /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path) && !/(^|[\\/])\.\.?([\\/]|$)|\p{Cc}/u.test(path), {
    error: 'expected an absolute path without "." or ".."',
  });

export const repositoryPath = absolutePath.describe('The repository, by its absolute path. Default: the one that your bridge or CLI reports.');

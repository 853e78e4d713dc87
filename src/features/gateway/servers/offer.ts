import type { Refusal } from '../../../kernel/errors.ts';
import type { Json, RelayContext, ToolSource } from '../../../kernel/relay.ts';

/** What the other servers have to offer. Everything is asked for a workspace, so that no surface can forget which servers serve it. */
export interface Upstreams {
  in(workspace: string): WorkspaceUpstreams;
  onChange(listener: (change: UpstreamChange) => void): () => void;
}

/** What the servers offer that serve one workspace. Nothing here asks which of its callers may use it: the pipe does. */
export interface WorkspaceUpstreams {
  serves(server: string): boolean;
  readonly tools: ToolSource;
  /** Those that a person has to approve first, for people to see that they are there. */
  withheldTools(): readonly { readonly name: string; readonly server: string }[];
  /** What the known servers can do; decides what the gateway declares of itself. */
  abilities(): { readonly prompts: boolean; readonly resources: boolean; readonly completions: boolean; readonly logging: boolean };
  /** Sorted by name. */
  prompts(): readonly ExternalPrompt[];
  prompt(name: string): ExternalPrompt | undefined;
  withheldPrompt(name: string): Refusal | undefined;
  resources(): readonly ExternalResource[];
  resourceTemplates(): readonly ExternalResource[];
  /** Who has it among the servers that the caller may read. */
  holderOf(uri: string, mayRead: (server: string) => boolean): ResourceHolder | undefined;
  /** The holder of a template by its very text, for completion. */
  holderOfTemplate(uriTemplate: string, mayRead: (server: string) => boolean): ResourceHolder | undefined;
}

/** A hint to look again, never the news itself. */
export type UpstreamChange =
  | { readonly kind: 'tools' | 'prompts' | 'resources'; reaches(workspace: string): boolean }
  | { readonly kind: 'resource'; readonly server: string; readonly uri: string };

export interface ExternalPrompt {
  readonly name: string;
  readonly server: string;
  readonly definition: Json;
  readonly timeoutMs: number;
  /** `params`: the arguments as the protocol has them. */
  get(args: Json | undefined, ctx: RelayContext): Promise<Json>;
  complete(params: CompletionParams, ctx: RelayContext): Promise<Json>;
}

export interface ExternalResource {
  readonly server: string;
  readonly definition: Json;
}

export interface ResourceHolder {
  readonly server: string;
  readonly timeoutMs: number;
  read(uri: string, ctx: RelayContext): Promise<Json>;
  complete(uriTemplate: string, params: CompletionParams, ctx: RelayContext): Promise<Json>;
  /** From now on a change of the resource is told to `onChange`, until the returned function is called. */
  watch(uri: string): Promise<() => void>;
}

/** `argument` and `context` of `completion/complete`. */
export interface CompletionParams {
  readonly argument: Json;
  readonly context?: Json | undefined;
}

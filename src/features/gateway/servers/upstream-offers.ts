import type { ExternalTool, Json, RelayContext } from '../../../kernel/relay.ts';
import type { Refusal } from '../../../kernel/reply.ts';
import type { OfferedDefinition, ServerCatalogue } from './catalogue.ts';
import type { ConfiguredServers } from './configured.ts';
import type { PinKind, ServerState } from './contract.ts';
import { serves } from './entry.ts';
import { downRefusal, withheldRefusal } from './refusals.ts';
import { indexResources, type ResourceIndex } from './resources.ts';
import type { Upstream } from './upstream.ts';

/** Access to the offers of external servers. Callers must always choose a workspace, so that they cannot forget to check which servers serve it. */
export type Upstreams = Pick<UpstreamOffers, 'in' | 'onChange'>;
export type WorkspaceUpstreams = ReturnType<Upstreams['in']>;
export type ResourceHolder = NonNullable<ReturnType<WorkspaceUpstreams['holderOf']>>;

/** Says what has changed and must be read again. It does not contain the new data. */
export type UpstreamChange =
  | { readonly kind: 'tools' | 'prompts' | 'resources'; reaches(workspace: string): boolean }
  | { readonly kind: 'resource'; readonly server: string; readonly uri: string };

/** The fields `argument` and `context` of `completion/complete`. */
interface CompletionParams {
  readonly argument: Json;
  readonly context?: Json | undefined;
}

const TOOL_STATES: Record<ServerState, ExternalTool['state']> = {
  up: 'up',
  // An idle server counts as up, because it starts when it is called.
  idle: 'up',
  starting: 'starting',
  down: 'down',
  stopped: 'down',
  disabled: 'down',
};

/** The offers of all servers, filtered by workspace. What every call needs is computed only when it changes. */
export class UpstreamOffers {
  readonly #catalogue: ServerCatalogue;
  readonly #running: ConfiguredServers;
  readonly #listeners = new Set<(change: UpstreamChange) => void>();
  readonly #tools = lookup(
    () => this.#catalogue.tools(),
    (offered) => this.#tool(offered),
  );
  readonly #prompts = lookup(
    () => this.#catalogue.prompts(),
    (offered) => this.#prompt(offered),
  );
  #resources: ResourceIndex | undefined;

  constructor(catalogue: ServerCatalogue, running: ConfiguredServers) {
    this.#catalogue = catalogue;
    this.#running = running;
    catalogue.onChange((kind, reaches) => {
      if (kind === 'resources') this.#resources = undefined;
      this.#announce({ kind, reaches });
    });
  }

  /** The offers of the servers that serve one workspace. This class does not check which callers may use them; the dispatcher does. */
  in(workspace: string) {
    const isServed = (server: string) => this.#serves(server, workspace);
    const here = <T extends { readonly server: string }>(all: readonly T[] = []): T | undefined => all.find(({ server }) => isServed(server));
    const only = <T extends { readonly server: string }>(all: readonly T[]): readonly T[] => all.filter(({ server }) => isServed(server));
    const readable = (mayRead: (server: string) => boolean) => (server: string) => isServed(server) && mayRead(server);
    const holder = (server: string | undefined) => (server === undefined ? undefined : this.#holder(server));
    const withheld = (kind: PinKind, name: string): Refusal | undefined => {
      const found = this.#catalogue.withheld(kind, name, isServed);
      return found && withheldRefusal(found);
    };
    return {
      serves: isServed,
      tools: {
        tool: (name: string) => here(this.#tools().byName.get(name)),
        tools: () => only(this.#tools().all),
        withheld: (name: string) => withheld('tool', name),
      },
      /** Tools that are not offered until a person approves them. They are listed so that people know about them. */
      withheldTools: () => this.#catalogue.withheldTools(isServed),
      /** The abilities of the external servers. The gateway declares them to its clients as its own. */
      abilities: () => this.#abilities(isServed),
      /** Sorted by name. */
      prompts: () => only(this.#prompts().all),
      prompt: (name: string) => here(this.#prompts().byName.get(name)),
      withheldPrompt: (name: string) => withheld('prompt', name),
      resources: () => only(this.#index().resources),
      resourceTemplates: () => only(this.#index().templates),
      /** Finds the server that has a resource, among the servers whose resources the caller may read. */
      holderOf: (uri: string, mayRead: (server: string) => boolean) => holder(this.#index().holderOf(uri, readable(mayRead))),
      /** Finds the server that has exactly this template. Used for completion. */
      holderOfTemplate: (uriTemplate: string, mayRead: (server: string) => boolean) => holder(this.#index().holderOfTemplate(uriTemplate, readable(mayRead))),
    };
  }

  onChange(listener: (change: UpstreamChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  resourceUpdated(server: string, uri: string): void {
    this.#announce({ kind: 'resource', server, uri });
  }

  #announce(change: UpstreamChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  #serves(server: string, workspace: string): boolean {
    const entry = this.#running.entries().entries.find(({ name }) => name === server);
    return entry !== undefined && serves(entry, workspace);
  }

  #abilities(isServed: (server: string) => boolean) {
    const known = this.#known().filter(({ entry }) => isServed(entry.name));
    // A client asks for the abilities only once. If a server was never listed, it may have any ability, so all of them are declared.
    const unseen = this.#running.entries().entries.some(({ enabled, name }) => enabled && isServed(name) && !this.#catalogue.isKnown(name));
    const any = (ability: string) => unseen || known.some(({ facts }) => Boolean(facts.capabilities[ability]));
    return { prompts: any('prompts'), resources: any('resources'), completions: any('completions'), logging: any('logging') };
  }

  #tool({ entry, name, exposed, definition }: OfferedDefinition): ExternalTool {
    const running = this.#running;
    const typed = definition as ExternalTool['definition'];
    return {
      name: exposed,
      server: entry.name,
      toolset: 'gateway',
      definition: typed,
      get state() {
        return TOOL_STATES[running.status(entry.name).state];
      },
      get timeoutMs(): number {
        return running.upstream(entry.name)?.supervisor.entry.timeoutMs ?? entry.timeoutMs;
      },
      call: (args, ctx) => this.#request(entry.name, ctx, 'tools/call', { name, arguments: args }, typed.inputSchema),
    };
  }

  #prompt({ entry, name, exposed, definition }: OfferedDefinition) {
    const running = this.#running;
    return {
      name: exposed,
      server: entry.name,
      definition,
      get timeoutMs(): number {
        return running.upstream(entry.name)?.supervisor.entry.timeoutMs ?? entry.timeoutMs;
      },
      /** Gets the prompt from its server. The arguments have the form that the protocol defines. */
      get: (args: Json | undefined, ctx: RelayContext) => this.#request(entry.name, ctx, 'prompts/get', { name, ...(args ? { arguments: args } : {}) }),
      complete: (params: CompletionParams, ctx: RelayContext) =>
        this.#request(entry.name, ctx, 'completion/complete', { ref: { type: 'ref/prompt', name }, ...completionParams(params) }),
    };
  }

  #holder(server: string) {
    const timeoutMs = this.#running.entries().entries.find(({ name }) => name === server)?.timeoutMs as number;
    return {
      server,
      timeoutMs,
      read: (uri: string, ctx: RelayContext) => this.#request(server, ctx, 'resources/read', { uri }),
      complete: (uri: string, params: CompletionParams, ctx: RelayContext) =>
        this.#request(server, ctx, 'completion/complete', { ref: { type: 'ref/resource', uri }, ...completionParams(params) }),
      /** Reports changes of the resource to `onChange` until the returned function is called. */
      watch: async (uri: string) => await this.#upstream(server).watches.watch(uri),
    };
  }

  async #request(server: string, ctx: RelayContext, method: string, params: Json, schema?: Json): Promise<Json> {
    return await this.#upstream(server).relay.request({ method, params, ...(schema ? { schema } : {}) }, ctx);
  }

  #upstream(server: string): Upstream {
    const upstream = this.#running.upstream(server);
    if (upstream) return upstream;
    throw downRefusal(server, 'This process does not run it. Start Covenant with `covenant up`.');
  }

  #known() {
    return this.#running.entries().entries.flatMap((entry) => {
      const facts = entry.enabled ? this.#catalogue.known(entry.name) : undefined;
      return facts ? [{ entry, facts }] : [];
    });
  }

  #index(): ResourceIndex {
    this.#resources ??= indexResources(this.#known());
    return this.#resources;
  }
}

interface Lookup<T> {
  readonly all: readonly T[];
  /** A name may have several definitions, because servers of different workspaces may offer the same name. */
  readonly byName: ReadonlyMap<string, readonly T[]>;
}

/** Caches the lookup table for a list. This works because the catalogue returns the same list until something changes. */
function lookup<T extends { readonly name: string }>(source: () => readonly OfferedDefinition[], make: (offered: OfferedDefinition) => T): () => Lookup<T> {
  let made: Lookup<T> | undefined;
  let from: readonly OfferedDefinition[] | undefined;
  return () => {
    const now = source();
    if (made && now === from) return made;
    from = now;
    const all = now.map(make);
    made = { all, byName: Map.groupBy(all, ({ name }) => name) };
    return made;
  };
}

const completionParams = ({ argument, context }: CompletionParams): Json => ({ argument, ...(context ? { context } : {}) });

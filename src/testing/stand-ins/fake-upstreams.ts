import type { ResourceHolder, UpstreamChange, Upstreams, WorkspaceUpstreams } from '../../features/gateway/servers/index.ts';
import type { ExternalTool, Json, RelayContext } from '../../kernel/relay.ts';
import type { AppOptions } from '../../main.ts';

type Work = (args: Json, ctx: RelayContext) => Promise<Json>;

/** Simulates external servers without connections. It is used to test how surfaces pass on tools and resources of such servers. */
export interface FakeUpstreams {
  readonly create: NonNullable<AppOptions['upstreams']>;
  /** The tools by their published names. The part before the underscore is the name of the server. */
  readonly tools: Map<string, { definition?: Json; work: Work }>;
  readonly prompts: Map<string, Work>;
  /** The resources by URI. The host in the URI is the name of the server. */
  readonly resources: Map<string, Work>;
  /** The URIs that a client has subscribed to. */
  readonly watched: Set<string>;
  change(change: { kind: 'tools' | 'prompts' | 'resources' } | { kind: 'resource'; server: string; uri: string }): void;
}

export function fakeUpstreams(): FakeUpstreams {
  const fake: Omit<FakeUpstreams, 'create' | 'change'> = { tools: new Map(), prompts: new Map(), resources: new Map(), watched: new Set() };
  const listeners = new Set<(change: UpstreamChange) => void>();
  const serverOf = (name: string) => name.split('_')[0] ?? name;
  const hostOf = (uri: string) => new URL(uri).host;
  const sorted = <T>(map: Map<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));

  const toolOf = (name: string, { definition, work }: { definition?: Json; work: Work }): ExternalTool => ({
    name,
    server: serverOf(name),
    toolset: 'gateway',
    definition: { name, description: `The tool ${name}.`, inputSchema: { type: 'object' }, ...definition },
    state: 'up',
    timeoutMs: 20_000,
    call: work,
  });
  const promptOf = (name: string, work: Work) => ({
    name,
    server: serverOf(name),
    definition: { name, description: `The prompt ${name}.` },
    timeoutMs: 20_000,
    get: (args: Json | undefined, ctx: RelayContext) => work(args ?? {}, ctx),
    complete: async ({ argument }: { argument: Json }) => ({ completion: { values: [`${name}:${argument.value}`] } }),
  });
  const holderOf = (uri: string): ResourceHolder => ({
    server: hostOf(uri),
    timeoutMs: 20_000,
    read: async (asked, ctx) => (await fake.resources.get(asked)?.({ uri: asked }, ctx)) ?? {},
    complete: async (_template, { argument }) => ({ completion: { values: [String(argument.value)] } }),
    async watch(asked) {
      fake.watched.add(asked);
      return () => void fake.watched.delete(asked);
    },
  });
  const find = (uri: string, mayRead: (server: string) => boolean) => (fake.resources.has(uri) && mayRead(hostOf(uri)) ? holderOf(uri) : undefined);

  const everywhere: WorkspaceUpstreams = {
    serves: () => true,
    tools: {
      tool: (name) => {
        const tool = fake.tools.get(name);
        return tool && toolOf(name, tool);
      },
      tools: () => sorted(fake.tools).map(([name, tool]) => toolOf(name, tool)),
      withheld: () => undefined,
    },
    withheldTools: () => [],
    abilities: () => ({ prompts: true, resources: true, completions: true, logging: true }),
    prompts: () => sorted(fake.prompts).map(([name, work]) => promptOf(name, work)),
    prompt: (name) => {
      const work = fake.prompts.get(name);
      return work && promptOf(name, work);
    },
    withheldPrompt: () => undefined,
    resources: () => sorted(fake.resources).map(([uri]) => ({ server: hostOf(uri), definition: { uri, name: uri } })),
    resourceTemplates: () => sorted(fake.resources).map(([uri]) => ({ server: hostOf(uri), definition: { uriTemplate: `${uri}/{id}`, name: uri } })),
    holderOf: find,
    holderOfTemplate: (template, mayRead) => find(template.replace('/{id}', ''), mayRead),
  };
  const upstreams: Upstreams = {
    in: () => everywhere,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return {
    ...fake,
    create: async () => ({
      feature: { name: 'upstreams', implementations: [] },
      upstreams,
      guests: { attach() {}, async detach() {} },
      undecided: async () => [],
    }),
    change: (change) => {
      for (const listener of listeners) listener(change.kind === 'resource' ? change : { ...change, reaches: () => true });
    },
  };
}

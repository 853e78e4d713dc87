import type { Services } from '../../../kernel/call.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { ServerCatalogue } from './catalogue.ts';
import { ConfiguredServers } from './configured.ts';
import type { Guests } from './guests.ts';
import type { RunningServers } from './running.ts';
import { serverTools, undecidedServers } from './tools.ts';
import { UpstreamOffers, type Upstreams } from './upstream-offers.ts';

export { guestEntry } from './guests.ts';
export { readEntries } from './secrets-file.ts';
export { blocksOf } from './toml-blocks.ts';
export type { ResourceHolder, UpstreamChange, Upstreams, WorkspaceUpstreams } from './upstream-offers.ts';

export interface UpstreamsOptions {
  /** Where `secrets.toml` and the servers' logs are. */
  readonly home: string;
  /** Whether this process starts the servers; a command that ends at once only reads what is known of them. */
  readonly run: boolean;
  readonly toolTimeoutMs: number;
  /** Covenant's own, as it tells the servers. */
  readonly version: string;
  /** Names that no other server's tool can have. */
  readonly nativeNames: () => Iterable<string>;
}

interface CreatedUpstreams {
  readonly feature: Feature;
  readonly upstreams: Upstreams;
  readonly guests: Guests;
  undecided(workspace: string): ReturnType<typeof undecidedServers>;
}

/** Other MCP servers: configured in `secrets.toml`, kept running, their tools, prompts and resources offered as far as they are approved. */
export async function createUpstreams(services: Services, options: UpstreamsOptions): Promise<CreatedUpstreams> {
  const catalogue = new ServerCatalogue(services, options.nativeNames);
  const resourceUpdated = (server: string, uri: string) => upstreams.resourceUpdated(server, uri);
  const running = options.run ? await runServers(services, { ...options, resourceUpdated }, catalogue) : new ConfiguredServers(services, options, catalogue);
  const upstreams = new UpstreamOffers(catalogue, running);
  return {
    feature: {
      name: 'upstreams',
      implementations: serverTools(catalogue, running),
      start: () => running.start(),
      stop: () => running.stop(),
    },
    upstreams,
    guests: running,
    undecided: (workspace) => undecidedServers(catalogue, running, services.store.reader, workspace),
  };
}

/** Loads what speaks MCP to other servers only where it is used: a command would be a tenth slower for it. */
async function runServers(...args: ConstructorParameters<typeof RunningServers>): Promise<ConfiguredServers> {
  const { RunningServers } = await import('./running.ts');
  return new RunningServers(...args);
}

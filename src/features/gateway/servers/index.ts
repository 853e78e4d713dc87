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
  /** The folder of `secrets.toml` and the servers' logs. */
  readonly home: string;
  /** Whether this process starts the servers. Short commands only read their stored catalogue. */
  readonly run: boolean;
  readonly toolTimeoutMs: number;
  /** Covenant's own version, as sent to the servers. */
  readonly version: string;
  /** Names that no external tool can have. */
  readonly nativeNames: () => Iterable<string>;
}

interface CreatedUpstreams {
  readonly feature: Feature;
  readonly upstreams: Upstreams;
  readonly guests: Guests;
  undecided(workspace: string): ReturnType<typeof undecidedServers>;
}

/** Other MCP servers: configured in `secrets.toml`, kept running, and offered with their approved tools, prompts and resources. */
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

/** Loads the MCP client code only when it is used, because it would make commands about a tenth slower. */
async function runServers(...args: ConstructorParameters<typeof RunningServers>): Promise<ConfiguredServers> {
  const { RunningServers } = await import('./running.ts');
  return new RunningServers(...args);
}

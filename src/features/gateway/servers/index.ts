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
  /** The folder that contains `secrets.toml` and the logs of the servers. */
  readonly home: string;
  /** Whether this process starts the servers. Short commands do not; they only read the stored catalogue. */
  readonly run: boolean;
  readonly toolTimeoutMs: number;
  /** Covenant's version, which is sent to the servers. */
  readonly version: string;
  /** The names of Covenant's own tools. External tools cannot use them. */
  readonly nativeNames: () => Iterable<string>;
}

interface CreatedUpstreams {
  readonly feature: Feature;
  readonly upstreams: Upstreams;
  readonly guests: Guests;
  undecided(workspace: string): ReturnType<typeof undecidedServers>;
}

/**
 * Creates the gateway for external MCP servers. It runs the servers in `secrets.toml` and offers their resources, and their tools and prompts once
 * approved.
 */
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

/** Loads the code of the MCP client only when servers are run. Otherwise all commands would be about a tenth slower. */
async function runServers(...args: ConstructorParameters<typeof RunningServers>): Promise<ConfiguredServers> {
  const { RunningServers } = await import('./running.ts');
  return new RunningServers(...args);
}

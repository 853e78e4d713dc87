import type { Services } from '../../../kernel/call.ts';
import { workspaceName } from '../../../kernel/ids.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { ServerCatalogue } from './catalogue.ts';
import { Configured } from './configured.ts';
import type { ServerEntry } from './entry.ts';
import type { RunningServers } from './running.ts';
import { serverTools, undecidedServers } from './tools.ts';
import { UpstreamCatalog, type Upstreams } from './upstream-catalog.ts';

export { readEntries } from './secrets.ts';
export { blocksOf } from './toml-blocks.ts';
export type { ResourceHolder, UpstreamChange, Upstreams, WorkspaceUpstreams } from './upstream-catalog.ts';

/** A program as a server of this name for one workspace, with the settings of an entry that says no more. */
export const guest = (
  name: string,
  workspace: string,
  program: { readonly command: string; readonly args: readonly string[] },
  timeoutMs: number,
): ServerEntry => ({
  name,
  workspace,
  workspaces: [workspaceName(workspace)],
  enabled: true,
  prefix: true,
  include: undefined,
  exclude: [],
  lazy: false,
  timeoutMs,
  protocol: 'auto',
  transport: { kind: 'stdio', ...program, env: {}, cwd: undefined },
  line: 0,
});

/** Servers that are in no file: they come with something that runs here, and go with it. */
export type Guests = Pick<Configured, 'attach' | 'detach'>;

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

/** Other MCP servers: configured in `secrets.toml`, kept running, their tools, prompts and resources offered as far as they are approved. */
export async function createUpstreams(
  services: Services,
  options: UpstreamsOptions,
): Promise<{
  feature: Feature;
  upstreams: Upstreams;
  guests: Guests;
  undecided: (workspace: string) => ReturnType<typeof undecidedServers>;
}> {
  const catalogue = new ServerCatalogue(services, options.nativeNames);
  const resourceUpdated = (server: string, uri: string) => upstreams.resourceUpdated(server, uri);
  const running = options.run ? await runServers(services, { ...options, resourceUpdated }, catalogue) : new Configured(services, options, catalogue);
  const upstreams = new UpstreamCatalog(catalogue, running);
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
async function runServers(...args: ConstructorParameters<typeof RunningServers>): Promise<Configured> {
  const { RunningServers } = await import('./running.ts');
  return new RunningServers(...args);
}

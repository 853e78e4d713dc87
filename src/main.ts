import { join } from 'node:path';
import type { Config } from './config.ts';
import { createApprovals } from './features/core/approvals/index.ts';
import { createGate, type Gate } from './features/core/capabilities/index.ts';
import { createDeviceDesk, type DeviceDesk } from './features/core/devices/index.ts';
import { createJournalQuota } from './features/core/events/index.ts';
import {
  type Authenticate,
  type CurrentSession,
  createAuthenticate,
  createCurrentSession,
  createEnterWorkspace,
  createRedactReply,
  createRefusalRecorder,
  createSignIn,
  type RefusalRecorder,
  type SignIn,
} from './features/core/identity/index.ts';
import { createUpstreams, guestEntry, type Upstreams } from './features/gateway/servers/index.ts';
import { productFeatures } from './features/index.ts';
import { DEMO_WORKSPACE_ID, demoFolder, demoLauncher, demoServer } from './features/people/demo/index.ts';
import { circumstancesOf, instanceTypeOf, LAUNCHERS } from './features/review/instances/index.ts';
import { type Embedder, localEmbedder, remoteEmbedder } from './features/team/overlap/index.ts';
import { createSessionPorts } from './features/team/sessions/index.ts';
import type { Services } from './kernel/call.ts';
import { type Clock, waitAtMost } from './kernel/clock.ts';
import { Dispatch } from './kernel/dispatch.ts';
import type { Log } from './kernel/log.ts';
import type { JournalQuota, Ports } from './kernel/ports.ts';
import { ALIAS_NAMES, Registry } from './kernel/registry.ts';
import { startSweeping } from './kernel/sweep.ts';
import type { Feature } from './kernel/tool.ts';
import { type Tracer, tracedStore } from './kernel/trace.ts';
import { type AgentHost, createAgentHost } from './machine/agent-sessions/agent-host.ts';
import { type FileDisk, fileDisk } from './machine/files.ts';
import { type GitDisk, gitDisk } from './machine/git/disk.ts';
import { createGitHub, type GitHub } from './machine/github/github.ts';
import { AnchorKeeper } from './storage/anchors/keeper.ts';
import { openStore } from './storage/open.ts';
import { PACKAGE_ROOT, VERSION } from './version.ts';

/** The longest time that `close` waits for the features. It is longer than the time that external servers get to end. */
const CLOSE_LIMIT_MS = 25_000;

/** The installed `covenant` program. The demo starts it as its agents and as its external server. */
const PROGRAM = join(PACKAGE_ROOT, 'dist', 'bin', 'covenant.js');

export interface App extends Services {
  readonly config: Config;
  readonly registry: Registry;
  readonly dispatch: Dispatch;
  readonly gate: Gate;
  readonly upstreams: Upstreams;
  readonly authenticate: Authenticate;
  readonly currentSession: CurrentSession;
  readonly signIn: SignIn;
  readonly devices: DeviceDesk;
  readonly refusals: RefusalRecorder;
  readonly journalQuota: JournalQuota;
  /** Starts, watches and stops the agents of this server. */
  readonly agentHost: AgentHost;
  /** Sets the address at which agents call the server. After that, agents can be started. */
  servesAt(url: string): void;
  /** Stops the features and waits for them for at most `graceMs`. Then closes the store in any case. */
  close(graceMs?: number): Promise<void>;
}

export interface AppOptions {
  config: Config;
  clock: Clock;
  log: Log;
  observe?: Ports['observe'];
  /** Set if a collector receives the spans. */
  tracer?: Tracer | undefined;
  /** Features to add in tests of the server itself. */
  extraFeatures?: readonly Feature[];
  checkOutput?: boolean;
  /** Replaces the git operations, for tests in which the server dies between two steps. */
  disk?: GitDisk;
  /** Replaces the server's file operations in repositories, for the same tests. */
  files?: FileDisk;
  /** Replaces GitHub, for the same tests. */
  github?: GitHub;
  /** Replaces the host of agents, for the same tests. */
  agentHost?: AgentHost;
  /** Replaces the external servers of secrets.toml, for tests of the gateway. */
  upstreams?: typeof createUpstreams;
  /** Whether to run sweeps and external servers. A short command leaves both to the server. */
  sweep?: boolean;
}

/**
 * Connects the storage, the features and the dispatcher. `serve` adds HTTP, MCP and the dashboard to the result. The CLI uses the
 * result in its own process.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, clock, log } = options;
  const store = tracedStore(
    await openStore({
      url: config.database_url,
      path: config.database_path,
      now: clock.now,
      statementTimeoutMs: config.tool_timeout_ms,
    }),
  );
  if (store.backup) log.info('database copied before its migration', { path: store.backup });
  const services: Services = { store, clock, log };
  const keeper = new AnchorKeeper(config.home, config.anchors.key_file);
  const late: { registry?: Registry; gate?: Gate; url?: string; features?: readonly Feature[] } = {};
  const agentHost = options.agentHost ?? createAgentHost(config.home);
  const registryLater = () => late.registry as Registry;
  const runs = options.sweep !== false;
  const {
    feature: upstreamFeature,
    upstreams,
    guests,
    undecided,
  } = await (options.upstreams ?? createUpstreams)(services, {
    home: config.home,
    run: runs,
    toolTimeoutMs: config.tool_timeout_ms,
    version: VERSION,
    nativeNames: () => [
      ...registryLater()
        .tools()
        .map(({ name }) => name),
      ...ALIAS_NAMES,
    ],
  });
  const approvals = createApprovals(services, {
    serverOf: (workspace, noun, name) => {
      const { prompt, tools } = upstreams.in(workspace);
      return noun === 'resource' ? name : ((noun === 'prompt' ? prompt(name) : tools.tool(name))?.server ?? null);
    },
    deadlineMs: config.approvals.deadline_s * 1000,
  });

  const refusals = createRefusalRecorder(services);
  const journalQuota = createJournalQuota(services, config.limits.journal_events_per_day);

  const features = [
    ...productFeatures({
      services,
      catalogue: {
        tools: () => registryLater().tools(),
        external: (workspace) => upstreams.in(workspace).tools.tools(),
        withheld: (workspace) => upstreams.in(workspace).withheldTools(),
        gate: () => late.gate as Gate,
      },
      facts: {
        version: VERSION,
        store: store.kind,
        schema: store.schemaVersion,
        startedAt: clock.now(),
        databasePath: config.database_path,
        anchorFolder: keeper.folder,
        toolCount: (workspace) => registryLater().tools().length + upstreams.in(workspace).tools.tools().length,
      },
      anchors: { keeper, pace: config.anchors },
      companionManifest: config.companion.manifest,
      embedder: embedderOf(config),
      machine: {
        ...agentHost,
        disk: options.disk ?? gitDisk,
        files: options.files ?? fileDisk,
        github: options.github ?? createGitHub({ ...gitHubSettings(config), now: () => clock.now() }),
        repositories: config.machine.repositories && [...config.machine.repositories, demoFolder(config.home)],
        launchers: { ...LAUNCHERS, demo: demoLauncher(PROGRAM), ...config.launchers },
        maxRunning: config.instances.max_running,
        url: () => late.url,
      },
      inventory: {
        tools: () => registryLater().tools(),
        actions: () => registryLater().actions(),
        keeps: () => (late.features ?? []).flatMap(({ keeps }) => keeps ?? []),
      },
      packageRoot: PACKAGE_ROOT,
      limits: config.limits,
      undecided,
      demonstration: {
        home: config.home,
        attach: (name, changesWith) => guests.attach(guestEntry(name, DEMO_WORKSPACE_ID, demoServer(PROGRAM, changesWith), config.tool_timeout_ms)),
        detach: (name, actor) => guests.detach(name, { actor }),
      },
    }),
    upstreamFeature,
    approvals.feature,
    journalQuota.feature,
    ...(options.extraFeatures ?? []),
  ];
  late.features = features;
  const registry = new Registry(
    features.flatMap((feature) => feature.implementations),
    (workspace) => upstreams.in(workspace).tools,
  );
  const gate = createGate(services, registry, instanceTypeOf(store.reader));
  Object.assign(late, { registry, gate });

  const dispatch = new Dispatch({
    ...services,
    registry,
    timeoutMs: config.tool_timeout_ms,
    freshSignInMs: config.limits.fresh_signin_minutes * 60_000,
    checkOutput: options.checkOutput ?? false,
    ports: {
      enterWorkspace: createEnterWorkspace(services),
      authorize: gate.authorize,
      mayList: async (principal) => (await gate.visibility(principal)).tool,
      ...createSessionPorts(services),
      ...approvals.ports,
      journalQuota: journalQuota.quota,
      countRefusal: (principal, code) => refusals.count(principal, code),
      redact: createRedactReply(services),
      circumstances: circumstancesOf(store.reader, options.disk ?? gitDisk, agentHost.machine),
      observe: options.observe ?? (() => {}),
      tracer: options.tracer,
    },
  });
  /** If a feature hangs, for example because of an external server, the store must be closed anyway. */
  const stopFeatures = async (graceMs: number, ...others: Promise<void>[]) => {
    const stops = [...features.map(async (feature) => await feature.stop?.()), ...others];
    for (const stop of stops) stop.catch((error: unknown) => log.error('a part of the server failed to stop', { error }));
    await waitAtMost(graceMs, Promise.allSettled(stops));
  };
  try {
    for (const feature of features) await feature.start?.(services);
  } catch (error) {
    await stopFeatures(CLOSE_LIMIT_MS);
    await store.close();
    throw error;
  }
  const sweeps = [{ name: 'refusals', everyMs: 5_000, run: () => refusals.flush() }, ...features.flatMap((feature) => feature.sweeps ?? [])];
  const sweeping = startSweeping(runs ? sweeps : [], clock, log, options.tracer);

  return {
    ...services,
    config,
    registry,
    dispatch,
    gate,
    upstreams,
    authenticate: createAuthenticate(services, config.limits),
    currentSession: createCurrentSession(services),
    signIn: createSignIn(services, config.limits),
    devices: createDeviceDesk(services, config.limits),
    refusals,
    journalQuota: journalQuota.quota,
    agentHost,
    servesAt(url) {
      late.url = url;
    },
    async close(graceMs = CLOSE_LIMIT_MS) {
      await stopFeatures(graceMs, sweeping.stop());
      await refusals.flush(true).catch((error: unknown) => log.error('the last refusals were not recorded', { error }));
      await store.close();
    },
  };
}

/** The token is read only from the environment, because it must not be in the configuration file. */
const gitHubSettings = ({ github }: Config) => ({ token: process.env.GITHUB_TOKEN, baseUrl: github.base_url, host: github.host });

/** Creates the operator's model for comparing work. Null if none is configured. */
function embedderOf({ overlap: { embedder }, home }: Config): Embedder | null {
  if (!embedder) return null;
  if ('url' in embedder) return remoteEmbedder({ ...embedder, apiKey: embedder.api_key_env ? process.env[embedder.api_key_env] : undefined });
  return localEmbedder(embedder.modules ?? join(home, 'node_modules'));
}

import { type Config, LIMITS } from '../config.ts';
import { ensureDeveloper, ensureWorkspace, issueToken } from '../features/core/identity/index.ts';
import type { CallAnswer, Principal } from '../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID } from '../kernel/ids.ts';
import { createLog } from '../kernel/log.ts';
import type { Feature } from '../kernel/tool.ts';
import type { AgentHost } from '../machine/agent-sessions/agent-host.ts';
import type { FileDisk } from '../machine/files.ts';
import type { GitDisk } from '../machine/git/disk.ts';
import type { GitHub } from '../machine/github/github.ts';
import { type App, type AppOptions, createApp } from '../main.ts';
import { type JournalEvent, readEvents } from '../storage/journal.ts';
import { createMetrics } from '../surfaces/http/metrics.ts';
import { type RunningServer, type ServeOptions, serve } from '../surfaces/http/server.ts';
import { type TestClock, testClock } from './clock.ts';
import { testConfig } from './config.ts';
import { type Session, signInBy } from './scenes/signin.ts';
import { whenOver } from './scope.ts';
import { type TestDatabase, temporaryDatabase } from './store/database.ts';

export interface TestCaller {
  readonly token: string;
  readonly tokenId: string;
  readonly principal: Principal;
}

/** The whole product in one process. The store and the pipe are real, and the test controls the clock. */
export interface TestApp {
  readonly app: App;
  readonly clock: TestClock;
  readonly database: TestDatabase;
  readonly operator: TestCaller;
  /** Lines that were logged. */
  readonly logged: string[];
  developer(name: string, agentType?: string, workspace?: string): Promise<TestCaller>;
  tool(name: string, args: unknown, caller: TestCaller): Promise<CallAnswer>;
  action(name: string, args: unknown, caller?: TestCaller): Promise<CallAnswer>;
  /** Calls an action that must succeed, and returns its data. */
  done(name: string, args: unknown, caller?: TestCaller): Promise<Record<string, unknown>>;
  events(filter?: { category?: string; kind?: string }, workspace?: string): Promise<JournalEvent[]>;
  /** Signs in to the dashboard of the server at `url`, by default as the first developer. */
  signIn(url: string, developer?: string): Promise<Session>;
  serve(options?: Pick<ServeOptions, 'stalledMs' | 'terminals' | 'dashboard'>): Promise<RunningServer>;
}

export interface TestAppOptions {
  features?: readonly Feature[];
  database?: TestDatabase;
  toolTimeoutMs?: number;
  clock?: TestClock;
  companionManifest?: string;
  embedder?: NonNullable<Config['overlap']['embedder']>;
  repositories?: string[];
  disk?: GitDisk;
  files?: FileDisk;
  agentHost?: AgentHost;
  launchers?: Config['launchers'];
  maxRunning?: number;
  github?: Config['github'];
  proxy?: Partial<Pick<Config, 'allowed_hosts' | 'allowed_origins' | 'trusted_proxies'>>;
  limits?: Partial<Config['limits']>;
  gitHubHand?: GitHub;
  upstreams?: AppOptions['upstreams'];
  tracer?: AppOptions['tracer'];
  /** The log level. By default everything is logged. */
  logLevel?: Parameters<typeof createLog>[0];
}

export async function testApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.database ?? (await temporaryDatabase());
  const clock = options.clock ?? testClock();
  const logged: string[] = [];
  const metrics = createMetrics();
  const app = await createApp({
    config: testConfig(database, {
      tool_timeout_ms: options.toolTimeoutMs ?? 30_000,
      companion: options.companionManifest === undefined ? {} : { manifest: options.companionManifest },
      overlap: options.embedder === undefined ? {} : { embedder: options.embedder },
      launchers: options.launchers ?? {},
      github: options.github ?? {},
      ...options.proxy,
      limits: LIMITS.parse(options.limits ?? {}),
      ...(options.maxRunning === undefined ? {} : { instances: { max_running: options.maxRunning } }),
      machine: options.repositories === undefined ? {} : { repositories: options.repositories },
    }),
    clock,
    log: createLog(options.logLevel ?? 'debug', (line) => logged.push(line)),
    observe: metrics.observe,
    extraFeatures: options.features ?? [],
    checkOutput: true,
    ...(options.disk ? { disk: options.disk } : {}),
    ...(options.files ? { files: options.files } : {}),
    ...(options.agentHost ? { agentHost: options.agentHost } : {}),
    ...(options.gitHubHand ? { github: options.gitHubHand } : {}),
    ...(options.upstreams ? { upstreams: options.upstreams } : {}),
    tracer: options.tracer,
  });
  whenOver(() => app.close());

  const callerOf = async (token: string, tokenId: string): Promise<TestCaller> => {
    const authenticated = await app.authenticate(token, 'bearer');
    if (!('principal' in authenticated)) throw new Error(`token refused: ${authenticated.rejected}`);
    return { token, tokenId, principal: authenticated.principal };
  };
  const operatorToken = await app.store.write(DEFAULT_WORKSPACE_ID, async (tx) => {
    await ensureWorkspace(tx, 'operator');
    return await issueToken(tx, { kind: 'operator', developerId: null, expiresAt: null, by: 'operator' });
  });
  const operator = await callerOf(operatorToken.value, operatorToken.token.id);
  const action: TestApp['action'] = (name, args, caller = operator) => app.dispatch.action({ name, args, principal: caller.principal, surface: 'api' });

  const done: TestApp['done'] = async (name, args, caller) => {
    const { reply } = await action(name, args, caller);
    if (reply.status !== 'ok') {
      // An internal error is described only in the log, so the last lines of the log are added.
      const inside = reply.code === 'INTERNAL' ? logged.slice(-5) : [];
      throw new Error([`${name}: ${reply.code}: ${reply.message}`, ...inside].join('\n'));
    }
    return reply.data as Record<string, unknown>;
  };

  return {
    app,
    clock,
    database,
    operator,
    logged,
    async developer(name, agentType, workspace = DEFAULT_WORKSPACE_ID) {
      const { value, token } = await app.store.write(workspace, async (tx) => {
        const developer = await ensureDeveloper(tx, name, 'operator');
        return await issueToken(tx, { kind: agentType ? 'agent' : 'developer', developerId: developer.id, agentType, expiresAt: null, by: 'operator' });
      });
      return await callerOf(value, token.id);
    },
    tool: (name, args, caller) => app.dispatch.tool({ name, args, principal: caller.principal, surface: 'api' }),
    action,
    done,
    async events(filter = {}, workspace = DEFAULT_WORKSPACE_ID) {
      const all = await readEvents(app.store.reader, workspace, 0, 1_000_000);
      return all.filter((event) => (!filter.category || event.category === filter.category) && (!filter.kind || event.kind === filter.kind));
    },
    async signIn(url, developer) {
      const { path } = await done('signin.link', developer === undefined ? {} : { developer });
      return await signInBy(url + String(path));
    },
    async serve(serveOptions = {}) {
      const server = await serve({ app, metrics, ...serveOptions });
      whenOver(() => server.close(100));
      return server;
    },
  };
}

/** The whole product with a server that listens on HTTP. */
export async function servedApp(options: TestAppOptions = {}): Promise<TestApp & { readonly url: string }> {
  const made = await testApp(options);
  const { url } = await made.serve();
  return { ...made, url };
}

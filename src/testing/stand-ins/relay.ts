import { createApprovals } from '../../features/core/approvals/index.ts';
import { createGate } from '../../features/core/capabilities/index.ts';
import type { CallAnswer, CallRequest } from '../../kernel/call.ts';
import { Dispatch } from '../../kernel/dispatch.ts';
import { Registry } from '../../kernel/registry.ts';
import type { Exchange, ExternalTool, Json, RelayContext } from '../../kernel/relay.ts';
import { Refusal } from '../../kernel/reply.ts';
import { type TestApp, type TestAppOptions, type TestCaller, testApp } from '../app.ts';
import { fixtureFeature } from '../fixture.ts';

export type FakeTool = (args: Json, ctx: RelayContext) => Promise<Json>;

export interface RelayApp extends TestApp {
  readonly dispatch: Dispatch;
  readonly ana: TestCaller;
  /** Makes a call, by default as Ana. */
  call(name: string, args?: unknown, more?: Partial<CallRequest>): Promise<CallAnswer>;
  /** The names of tools that are withheld, as they are after their definition has changed. */
  readonly withheld: Set<string>;
}

export interface RelayAppOptions extends TestAppOptions {
  readonly timeoutMs?: number;
  readonly deadlineMs?: number;
}

/** Sets up the pipe with an external server named `far`. The test provides the server's tools as functions. */
export async function relayApp(
  tools: Record<string, FakeTool>,
  { timeoutMs = 30_000, deadlineMs = 600_000, ...options }: RelayAppOptions = {},
): Promise<RelayApp> {
  const app = await testApp(options);
  const { store, clock, log } = app.app;
  const parts = { store, clock, log };
  const withheld = new Set<string>();
  const external = Object.entries(tools).map(
    ([name, call]): ExternalTool => ({
      name,
      server: 'far',
      toolset: 'gateway',
      definition: { name, inputSchema: { type: 'object' } },
      state: 'up',
      timeoutMs,
      call,
    }),
  );
  const offered = () => external.filter(({ name }) => !withheld.has(name));
  const registry = new Registry(fixtureFeature.implementations, () => ({
    tools: offered,
    tool: (name) => offered().find((tool) => tool.name === name),
    withheld: (name) => (withheld.has(name) ? new Refusal('TOOL_WITHHELD', `The tool ${name} has changed.`, 'covenant servers approve far') : undefined),
  }));
  const gate = createGate(parts, registry, async () => undefined);
  const { ports } = createApprovals(parts, { serverOf: (_workspace, _noun, name) => (name in tools ? 'far' : null), deadlineMs });
  const dispatch = new Dispatch({
    ...parts,
    registry,
    timeoutMs,
    freshSignInMs: 0,
    checkOutput: true,
    ports: {
      enterWorkspace: async (principal) => ({ principal, exists: true }),
      authorize: gate.authorize,
      mayList: async (principal) => (await gate.visibility(principal)).tool,
      enterSession: async () => {},
      touchSession: async () => {},
      redact: async (_principal, reply) => reply,
      observe: () => {},
      journalQuota: { exceeded: () => undefined, grew: () => {} },
      countRefusal: () => {},
      ...ports,
    },
  });
  const ana = await app.developer('ana', 'codex');
  return {
    ...app,
    dispatch,
    ana,
    withheld,
    call: (name, args = {}, more = {}) => dispatch.tool({ name, args, principal: ana.principal, surface: 'mcp', ...more }),
  };
}

/** A client that uses a newer protocol revision. The server asks it questions in the result of a call. */
export const modern = (rounds: Exchange['rounds'] = {}, more: Partial<Exchange> = {}): Exchange => ({
  capabilities: { elicitation: { form: {} } },
  meta: {},
  rounds: rounds ?? {},
  ...more,
});

/** A client that uses an older protocol revision. The server sends it questions during a call. */
export const legacy = (ask: NonNullable<Exchange['ask']>, more: Partial<Exchange> = {}): Exchange => ({
  capabilities: { elicitation: {} },
  meta: {},
  ask,
  rounds: {},
  ...more,
});

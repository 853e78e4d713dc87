import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ensureDeveloper, issueToken } from '../../features/core/identity/index.ts';
import { createUpstreams } from '../../features/gateway/servers/index.ts';
import type { Principal } from '../../kernel/call.ts';
import { DEFAULT_WORKSPACE_ID, workspaceId } from '../../kernel/ids.ts';
import type { RunningServer } from '../../surfaces/http/server.ts';
import { type TestApp, type TestCaller, testApp } from '../app.ts';
import { testClock } from '../clock.ts';
import { SLEEPER } from '../config.ts';
import { brokerRepository } from '../scenes/cycle.ts';
import { type PretendedHost, pretendedHost } from '../scenes/sessions.ts';
import type { Body } from '../scenes/workflow.ts';
import { ENGINE, temporaryDatabase } from '../store/database.ts';
import { type Captured, captured } from './captured.ts';
import { agreeableGit, agreeableGitHub, filesOnlyIn } from './machine.ts';

export const ELSEWHERE = workspaceId('elsewhere');
export const REPOSITORY = '/srv/app';

/** All callers. `coder`, `reviewer` and `planner` are agents that the server has started. The token of `gone` is revoked. */
export const PEOPLE = {
  operator: {},
  olga_web: { developer: 'olga', web: true },
  ana: { developer: 'ana', agent: 'codex' },
  ana_too: { developer: 'ana', agent: 'claude-code' },
  ana_token: { developer: 'ana' },
  ana_web: { developer: 'ana', web: true },
  ben: { developer: 'ben', agent: 'codex' },
  ben_web: { developer: 'ben', web: true },
  paula: { developer: 'paula', agent: 'gemini' },
  paula_web: { developer: 'paula', web: true },
  cleo: { developer: 'cleo', agent: 'cursor' },
  zoe: { developer: 'zoe', agent: 'codex', workspace: ELSEWHERE },
  zoe_web: { developer: 'zoe', web: true, workspace: ELSEWHERE },
  coder: {},
  reviewer: {},
  planner: {},
  gone: { developer: 'ben', agent: 'opencode' },
} as const satisfies Record<string, { developer?: string; agent?: string; web?: true; workspace?: string }>;
export type CallerName = keyof typeof PEOPLE;

const INSTANCES = { coder: 'coding', reviewer: 'review', planner: 'planning' } as const;

/** A caller. It has either a cookie with the proof of its page, or a token. */
export interface Caller extends TestCaller {
  readonly name: CallerName;
  readonly proof?: string;
}

/** The whole product with callers in two workspaces. All writes are recorded. A stand-in for git and the file system accepts every request. */
export interface FuzzScene extends TestApp {
  readonly captured: Captured;
  readonly host: PretendedHost;
  readonly server: RunningServer;
  /** The repository in which cycles run. */
  readonly broker: string;
  /** Calls that wait for a decision, by the id of the approval. */
  readonly waiting: Map<string, Promise<unknown>>;
  caller(name: CallerName): Promise<Caller>;
  /** Whether the id belongs to the other workspace. */
  foreign(id: string): boolean;
  /** Creates new tokens for everyone, because old tokens may have been revoked or may have lost their grants. */
  renew(): Promise<void>;
  /** Calls a tool that must succeed, and returns its answer. */
  ok(tool: string, args: object, caller: CallerName): Promise<Body>;
}

export async function openFuzzScene(): Promise<FuzzScene> {
  const host = pretendedHost();
  const broker = brokerRepository();
  // This database is not reused by other tests, because the triggers that record changes stay in it.
  const database = await temporaryDatabase(ENGINE, { bare: true });
  mkdirSync(database.home, { recursive: true });
  writeFileSync(join(database.home, 'secrets.toml'), '[[mcp.server]]\nname = "tools"\ncommand = "false"\n', { mode: 0o600 });
  const clock = testClock();
  const t = await testApp({
    database,
    // Sweeps are switched off, because they could write between two calls, and such a write belongs to no call.
    clock: { ...clock, every: () => () => {} },
    agentHost: host,
    launchers: { tiny: SLEEPER },
    disk: agreeableGit,
    files: filesOnlyIn(broker),
    gitHubHand: agreeableGitHub(),
    maxRunning: 10_000,
    upstreams: async (parts, options) => ({ ...(await createUpstreams(parts, options)), guests: { attach() {}, async detach() {} } }),
  });
  t.app.servesAt('http://127.0.0.1:9');
  const server = await t.serve();
  const ledger = await captured(t.app.store, DEFAULT_WORKSPACE_ID);

  const held = new Map<CallerName, Caller>();
  const signedIn = async (name: CallerName, developer: string, workspace: string): Promise<Caller> => {
    await t.app.store.write(workspace, (tx) => ensureDeveloper(tx, developer, 'operator'));
    const { reply } = await t.app.dispatch.action({
      name: 'signin.link',
      args: { developer },
      principal: t.operator.principal,
      surface: 'api',
      workspace: workspace.replace(/^ws_/, ''),
    });
    const session = await t.app.signIn({ code: String((reply as Body).data.path).replace('/signin/', '') });
    const found = await t.app.authenticate(session.cookie, 'cookie', { secret: session.proof });
    if (!('principal' in found)) throw new Error(`${developer} cannot sign in`);
    return { name, token: session.cookie, proof: session.proof, tokenId: found.principal.tokenId, principal: found.principal };
  };
  const newOperator = async (): Promise<Caller> => {
    const { value } = await t.app.store.write(DEFAULT_WORKSPACE_ID, (tx) =>
      issueToken(tx, { kind: 'operator', developerId: null, expiresAt: null, by: 'operator' }),
    );
    const found = await t.app.authenticate(value, 'bearer');
    if (!('principal' in found)) throw new Error('the operator is refused');
    return { name: 'operator', token: value, tokenId: found.principal.tokenId, principal: found.principal };
  };
  const admit = async (name: CallerName): Promise<void> => {
    if (name in INSTANCES) return;
    if (name === 'operator') return void held.set(name, await newOperator());
    const { developer, workspace = DEFAULT_WORKSPACE_ID, ...who } = PEOPLE[name] as { developer: string; agent?: string; web?: true; workspace?: string };
    const made = who.web ? await signedIn(name, developer, workspace) : { name, ...(await t.developer(developer, who.agent, workspace)) };
    held.set(name, made);
    if (name === 'ana' || name === 'ben') await t.done('capabilities.grant', { action: 'tool.call.echo', token: made.tokenId });
    if (name === 'cleo') for (const action of ['toolset.workflow', 'toolset.cycle']) await t.done('capabilities.revoke', { action, token: made.tokenId });
    if (name === 'gone') await t.done('tokens.revoke', { token_id: made.tokenId });
  };
  const start = (type: 'coding' | 'planning') =>
    t.done('instances.start', { repository_path: REPOSITORY, type, agent: 'tiny', ...(type === 'coding' ? { issue: 7 } : { prompt: 'Plan it.' }) });
  const running = async (type: (typeof INSTANCES)[keyof typeof INSTANCES]): Promise<Principal & { token: string }> => {
    const ids = new Set(ledger.rows('instances').flatMap((row) => (row.type === type && row.ended_at === null && row.status === 'started' ? [row.id] : [])));
    for (const { name, env } of host.started.toReversed()) {
      const token = env.COVIBE_MCP_TOKEN ?? '';
      const found = ids.has(name) ? await t.app.authenticate(token, 'bearer') : { rejected: 'unknown' };
      if ('principal' in found) return { ...found.principal, token };
    }
    if (type === 'review') {
      const answer = await t.tool('request_review', {}, await caller('coder'));
      if (answer.isError) await start('coding');
    } else await start(type);
    await ledger.changes();
    return await running(type);
  };
  /** Whether the caller signed in recently enough for actions that need a fresh sign-in. */
  const isFresh = async ({ principal }: Caller): Promise<boolean> =>
    (await t.app.currentSession(principal)) !== undefined && clock.now() - (principal.signedInAt ?? 0) <= t.app.config.limits.fresh_signin_minutes * 60_000;
  const caller: FuzzScene['caller'] = async (name) => {
    const type = INSTANCES[name as keyof typeof INSTANCES];
    if (type) {
      const { token, ...principal } = await running(type);
      return { name, token, tokenId: principal.tokenId, principal };
    }
    const known = held.get(name);
    const stands =
      known && (name === 'gone' || (known.principal.web ? await isFresh(known) : 'principal' in (await t.app.authenticate(known.token, 'bearer'))));
    if (!stands) await admit(name);
    return held.get(name) as Caller;
  };
  const renew = async () => {
    for (const name of Object.keys(PEOPLE) as CallerName[]) await admit(name);
    await ledger.changes();
  };
  return {
    ...t,
    clock,
    captured: ledger,
    host,
    server,
    broker,
    waiting: new Map(),
    caller,
    renew,
    foreign: (id) => ledger.workspaceOf(id) === ELSEWHERE,
    async ok(tool, args, name) {
      const answer = await t.tool(tool, args, await caller(name));
      expect(answer.isError, `${tool} ${JSON.stringify(args)} by ${name} answered ${JSON.stringify(answer.body)}`).toBe(false);
      return answer.body;
    },
  };
}

import { placeOf } from '../../../machine/git/place.ts';
import { VERSION } from '../../../version.ts';
import { environmentToken, tokensFrom } from '../../../wire/credentials.ts';
import { ask, type ServerAnswer } from '../server.ts';
import { presentRepos } from '../state.ts';
import { offerIn, type UpdateOffer } from '../update/release.ts';
import type { UsageEvent } from '../usage-readers/usage-batch.ts';
import type { Ledger } from './ledger.ts';

/** So many are noted at once: whoever is killed before sends these again, and the server knows them. */
const BATCH_SIZE = 20;

/** So many in a row that the server does not take now, and the rest of the same agent's waits with them: one that it cannot take holds up no other. */
const MAX_TRIES = 5;

const ENDED = 'ended before all was sent';

/** Sends what waits, the oldest first. The problem, where something has to wait on. */
export async function deliver(ledger: Ledger, origin: string, tokens: Tokens, signal?: AbortSignal): Promise<string | undefined> {
  const settled = new Set<string>();
  const refused: Record<string, string> = {};
  const note = () => {
    if (settled.size > 0) ledger.settle(new Set(settled), { ...refused });
    settled.clear();
    for (const id of Object.keys(refused)) delete refused[id];
  };
  let problem: string | undefined;
  const tries = new Map<string | undefined, number>();
  for (const event of ledger.pending) {
    if (signal?.aborted) {
      problem = ENDED;
      break;
    }
    const tried = tries.get(event.agent) ?? 0;
    if (tried >= MAX_TRIES) continue;
    const token = tokens.of(event.agent) ?? tokens.machine;
    const outcome = token === undefined ? { wait: NO_TOKEN } : await send(origin, token, event);
    if ('over' in outcome) {
      problem = outcome.over;
      break;
    }
    if ('wait' in outcome) {
      problem = outcome.wait;
      tries.set(event.agent, outcome.wait === TOKEN_REFUSED ? MAX_TRIES : tried + 1);
      continue;
    }
    tries.delete(event.agent);
    settled.add(event.id);
    if (outcome.refused !== undefined) refused[event.id] = outcome.refused;
    if (settled.size >= BATCH_SIZE) note();
  }
  note();
  return problem;
}

export const NO_TOKEN = 'no token for this server: run covibe-local setup, or set COVIBE_MCP_TOKEN';

/** `over`: nobody answers. `wait`: not with this token now. */
type Outcome = { readonly over: string } | { readonly wait: string } | { readonly refused?: string };

async function send(origin: string, token: string, { source, payload, session_id, submitted_cost, ...event }: UsageEvent): Promise<Outcome> {
  const asked = await callTool(origin, token, 'covibe_ingest_agent_telemetry', { source, payload, session_id, submitted_cost });
  if ('unreachable' in asked) return { over: `server unreachable (${asked.unreachable})` };
  if (asked.status === 401) return { wait: TOKEN_REFUSED };
  const { status, data } = asked.body as { status?: unknown; data?: { code?: unknown } };
  // Counted before is as good: it was sent, and whoever sent it was ended before it could say so.
  if (status === 'ok' || status === 'warning') return {};
  const code = String(data?.code ?? `HTTP ${asked.status}`);
  if (code === 'SESSION_NOT_FOUND' && session_id !== undefined) return await send(origin, token, { ...event, source, payload, submitted_cost });
  return code === 'INVALID_INPUT' ? { refused: 'The server found no token counters in it.' } : { wait: `the server does not take usage now (${code})` };
}

const TOKEN_REFUSED = 'the server does not accept the token: run covibe-local setup again';

const callTool = (origin: string, token: string, tool: string, args: Record<string, unknown>): Promise<ServerAnswer> =>
  ask(origin, '/api/mcp', { token, body: { tool, arguments: args } });

interface Beaten {
  readonly repos: number;
  readonly offer?: UpdateOffer | undefined;
  readonly problem?: string;
}

/** The server takes no longer ones. */
const LONGEST_PATH = 500;

/** The machine is alive and has these repositories. */
export async function beat(env: NodeJS.ProcessEnv, origin: string, token: string): Promise<Beaten> {
  const repos = presentRepos(env).map(({ path, repo }) => {
    const place = placeOf(path);
    return { repo: place?.repo ?? repo, ...(path.length <= LONGEST_PATH ? { path } : {}), branch: place?.branch?.slice(0, 300) };
  });
  const asked = await callTool(origin, token, 'covibe_session', { operation: 'heartbeat', companion_version: VERSION, registered_repos: repos });
  if ('unreachable' in asked) return { repos: repos.length, problem: `server unreachable (${asked.unreachable})` };
  if (asked.status === 401) return { repos: repos.length, problem: TOKEN_REFUSED };
  const { status, data } = asked.body as { status?: unknown; data?: Record<string, unknown> };
  if (status !== 'ok') return { repos: repos.length, problem: `the server does not take heartbeats now (${String(data?.code ?? asked.status)})` };
  return { repos: repos.length, offer: offerIn(data?.companion) };
}

/** The tokens with which this machine may speak to a server. */
interface Tokens {
  /** The agent's own; undefined where it has none here. */
  of(agent: string | undefined): string | undefined;
  /** What the machine speaks of itself with. */
  readonly machine: string | undefined;
}

/** `COVIBE_MCP_TOKEN` is everybody's; stored ones are each agent's own, and go to nobody but the server that gave them. */
export function tokensFor(env: NodeJS.ProcessEnv, origin: string): Tokens {
  const given = environmentToken(env);
  if (given) return { of: () => given, machine: given };
  const stored = tokensFrom(env, origin);
  const [first] = Object.keys(stored).sort();
  const machine = first === undefined ? undefined : stored[first];
  return { of: (agent) => (agent === undefined ? machine : stored[agent]), machine };
}

import { ask, type ServerAnswer } from '../server.ts';
import type { UsageEvent } from '../usage/event.ts';
import type { Ledger } from './ledger.ts';
import type { Tokens } from './tokens.ts';

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

export const TOKEN_REFUSED = 'the server does not accept the token: run covibe-local setup again';

export const callTool = (origin: string, token: string, tool: string, args: Record<string, unknown>): Promise<ServerAnswer> =>
  ask(origin, '/api/mcp', { token, body: { tool, arguments: args } });

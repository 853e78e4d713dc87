import { callTool } from '../server.ts';
import type { UsageEvent } from '../usage-readers/usage-batch.ts';
import type { Ledger } from './ledger.ts';
import { MISSING_TOKEN_PROBLEM, REFUSED_TOKEN_PROBLEM, type WatchTokens } from './tokens.ts';

/** Events are marked as settled in groups of this size. If the process is killed before that, the events are sent again, and the server recognizes them. */
const BATCH_SIZE = 20;

/** After this many failures in a row, the other events of the same agent wait for the next sync. Events of other agents are still sent. */
const MAX_TRIES = 5;

const ENDED = 'stopped before everything was sent';

/** Sends the pending events, oldest first. If some events have to wait, returns the reason. */
export async function deliver(ledger: Ledger, origin: string, tokens: WatchTokens, signal?: AbortSignal): Promise<string | undefined> {
  const settled = new Set<string>();
  const refused: Record<string, string> = {};
  const noteSettled = () => {
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
    const outcome = token === undefined ? { wait: MISSING_TOKEN_PROBLEM } : await send(origin, token, event);
    if ('stop' in outcome) {
      problem = outcome.stop;
      break;
    }
    if ('wait' in outcome) {
      problem = outcome.wait;
      tries.set(event.agent, outcome.wait === REFUSED_TOKEN_PROBLEM ? MAX_TRIES : tried + 1);
      continue;
    }
    tries.delete(event.agent);
    settled.add(event.id);
    if (outcome.refused !== undefined) refused[event.id] = outcome.refused;
    if (settled.size >= BATCH_SIZE) noteSettled();
  }
  noteSettled();
  return problem;
}

/** `stop`: the server does not answer, so nothing more is sent. `wait`: the server does not accept this event with this token now. */
type SendOutcome = { readonly stop: string } | { readonly wait: string } | { readonly refused?: string };

async function send(origin: string, token: string, { source, payload, session_id, submitted_cost, ...event }: UsageEvent): Promise<SendOutcome> {
  const asked = await callTool(origin, token, 'covibe_ingest_agent_telemetry', { source, payload, session_id, submitted_cost });
  if ('unreachable' in asked) return { stop: `server unreachable (${asked.unreachable})` };
  if (asked.status === 401) return { wait: REFUSED_TOKEN_PROBLEM };
  const { status, data } = asked.body as { status?: unknown; data?: { code?: unknown } };
  // A warning means that the server has counted this event before. The process that sent the event was killed before it could record that.
  if (status === 'ok' || status === 'warning') return {};
  const code = String(data?.code ?? `HTTP ${asked.status}`);
  if (code === 'SESSION_NOT_FOUND' && session_id !== undefined) return await send(origin, token, { ...event, source, payload, submitted_cost });
  return code === 'INVALID_INPUT' ? { refused: 'The server found no token counters in it.' } : { wait: `the server does not accept usage now (${code})` };
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { cursorStore } from '../../clients/cursor.ts';
import type { UsageBatch, UsageEvent } from '../../surfaces/companion/usage-readers/usage-batch.ts';

/** This text stands for the prompts, answers and files that clients store next to their counters. It must never be reported. */
export const CANARY = 'CANARY-5f3a the secret plan';

/** Collects the events that readers add. Each id is added only once, and their number is limited. */
export function testBatch({ since = 0, room = Number.POSITIVE_INFINITY } = {}): UsageBatch & { readonly events: UsageEvent[] } {
  const events: UsageEvent[] = [];
  return { since, events, full: () => events.length >= room, put: (event) => void (events.some(({ id }) => id === event.id) || events.push(event)) };
}

export const outputsOf = (events: readonly { payload: Readonly<Record<string, unknown>> }[]) =>
  events.map(({ payload }) => (payload.usage as { output_tokens: number }).output_tokens);

export function writeLines(path: string, lines: readonly unknown[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

/** Returns a log line as Claude Code writes it. Claude Code writes one line for each block of a message. */
export const claudeLine = (id: string, output: number, more: { stop?: string | null; at?: string; usage?: object | null; text?: string } = {}): object => ({
  type: 'assistant',
  timestamp: more.at ?? new Date().toISOString(),
  requestId: `req_${id}`,
  cwd: `/home/ana/${CANARY}`,
  message: {
    id,
    model: 'claude-sonnet-4-5-20250929',
    role: 'assistant',
    stop_reason: more.stop === undefined ? 'end_turn' : more.stop,
    content: [{ type: 'text', text: more.text ?? CANARY }],
    usage:
      more.usage === undefined
        ? {
            input_tokens: 10,
            cache_creation_input_tokens: 300,
            cache_read_input_tokens: 2_000,
            cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
            output_tokens: output,
            service_tier: CANARY,
          }
        : more.usage,
  },
});

export const transcriptPath = (home: string, name = 'run-1'): string => join(home, '.claude/projects/-home-ana-shop', `${name}.jsonl`);

const THREAD = '01a1e33a-cc2f-7c71-9c53-0967e11facf9';
export const rolloutPath = (home: string, thread = THREAD): string => join(home, `.codex/sessions/2026/11/16/rollout-2026-11-16T07-20-43-${thread}.jsonl`);

const codexUsage = (output: number) => ({
  input_tokens: 1_200,
  cached_input_tokens: 1_000,
  cache_write_input_tokens: 0,
  output_tokens: output,
  reasoning_output_tokens: 20,
  total_tokens: 1_200 + output,
});

/** The lines of a thread as Codex 0.166 writes them. `responses`: the output tokens of each response, by its id. */
export function rolloutLines(
  responses: Readonly<Record<string, number>>,
  { thread = THREAD, named = true, forkedFrom = undefined as string | undefined } = {},
): object[] {
  const timestamp = new Date().toISOString();
  let sum = 0;
  return [
    { timestamp, type: 'session_meta', payload: { id: thread, forked_from_id: forkedFrom, cwd: '/home/ana', base_instructions: { text: CANARY } } },
    { timestamp, type: 'turn_context', payload: { cwd: '/home/ana', model: 'gpt-5.1-codex', summary: CANARY } },
    ...Object.entries(responses).flatMap(([id, output]) => {
      const usage = codexUsage(output);
      sum += output;
      const count = { type: 'token_count', info: { total_token_usage: codexUsage(sum), last_token_usage: usage }, rate_limits: null };
      return [
        { timestamp, type: 'response_item', payload: { type: 'message', content: [{ type: 'output_text', text: `${CANARY} token_count` }] } },
        ...(named ? [{ timestamp, type: 'token_usage_record', payload: { thread_id: thread, response_id: id, usage, turn_token_usage: usage } }] : []),
        { timestamp, type: 'event_msg', payload: count },
        // Codex writes the same counters again with every update of the rate limits.
        { timestamp, type: 'event_msg', payload: { ...count, rate_limits: { plan_type: CANARY } } },
      ];
    }),
  ];
}

export interface LogEntry {
  readonly body: string;
  readonly target?: string;
  readonly thread?: string | null;
}

/** Creates a log database like the one of Codex. */
export function writeCodexLog(home: string, entries: readonly LogEntry[]): string {
  const path = join(home, '.codex/logs_2.sqlite');
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec(`create table if not exists logs (id integer primary key autoincrement, ts integer not null, ts_nanos integer not null, level text not null,
    target text not null, feedback_log_body text, module_path text, file text, line integer, thread_id text, process_uuid text, estimated_bytes integer not null default 0)`);
  const insert = database.prepare("insert into logs (ts, ts_nanos, level, target, feedback_log_body, thread_id) values (?, 0, 'TRACE', ?, ?, ?)");
  for (const { body, target = 'codex_api::sse::responses', thread = 'thread-1' } of entries) insert.run(Math.floor(Date.now() / 1000), target, body, thread);
  database.close();
  return path;
}

/** Returns a log entry that contains the event of a completed response in the middle of other text. */
export const wholeEntry = (id: string, output: number): string =>
  `session_loop{thread_id=thread-1}:turn{prompt="${CANARY}"}: SSE event: ${JSON.stringify({
    type: 'response.completed',
    response: {
      id,
      model: 'gpt-5.1-codex',
      output: [{ type: 'message', content: [{ text: CANARY }] }],
      usage: { input_tokens: 1_200, input_tokens_details: { cached_tokens: 1_000 }, output_tokens: output, output_tokens_details: { reasoning_tokens: 20 } },
    },
  })}`;

/** Returns a log entry that contains only counters, as Codex writes it for its own telemetry. */
export const countedEntry = (output: number, at = '2026-11-16T07:20:43.945Z'): string =>
  `session_loop{thread_id=thread-1}: event.name="codex.sse_event" event.kind=response.completed input_token_count=1200 output_token_count=${output} cached_token_count=1000 reasoning_token_count=20 tool_token_count=1255 event.timestamp=${at} conversation.id=thread-1 user.email="${CANARY}" model=gpt-5.1-codex slug=gpt-5.1-codex`;

export interface Bubble {
  readonly id: string;
  readonly tokens?: { inputTokens?: number; outputTokens?: number } | undefined;
  readonly model?: string | undefined;
  /** The date of the answer. Null if it has none. */
  readonly at?: string | null;
  readonly ended?: boolean;
}

/** Creates a store like the one of Cursor, with these answers. */
export function writeCursorStore(home: string, bubbles: readonly Bubble[]): void {
  const path = cursorStore({ HOME: home });
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec('create table if not exists cursorDiskKV (key text unique on conflict replace, value blob)');
  const insert = database.prepare('insert into cursorDiskKV (key, value) values (?, ?)');
  insert.run('composerData:chat-1', JSON.stringify({ composerId: 'chat-1', name: CANARY, modelConfig: { modelName: 'claude-4.5-sonnet' } }));
  insert.run('bubbleId:chat-1:broken', `{ ${CANARY}`);
  for (const { id, tokens, model, at = new Date().toISOString(), ended = true } of bubbles) {
    const timingInfo = ended ? { clientEndTime: 1 } : {};
    const value = { bubbleId: id, type: 2, text: CANARY, tokenCount: tokens, modelInfo: model && { modelName: model }, createdAt: at ?? undefined, timingInfo };
    insert.run(`bubbleId:chat-1:${id}`, JSON.stringify(value));
  }
  database.close();
}

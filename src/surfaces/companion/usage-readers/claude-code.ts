import { transcriptsFolder } from '../../../clients/claude-code.ts';
import { nameOfModel } from '../../../features/team/usage/span.ts';
import { recordOf } from '../../../wire/json.ts';
import { hashOf } from '../hash.ts';
import { sessionOf } from '../runs.ts';
import { type FileCursor, type FoundFile, fileAt, filesUnder, linesFrom, objectOn, readFiles } from './log-files.ts';
import { type Cursor, countOf, isCounted, momentOf, type UsageBatch, type UsageEvent } from './usage-batch.ts';

/** If a transcript has not changed for this time, its last message counts as complete, even without a stop reason. */
const QUIET_MS = 60_000;

interface TranscriptOptions {
  /** The transcript of one run. Only this transcript and those of its subagents are read. If undefined, all transcripts are read. */
  readonly only?: string | undefined;
  readonly now: number;
}

/** Reads Claude Code's transcripts. Reports the usage of each message once, however many lines the message has. */
export function readClaudeCode(env: NodeJS.ProcessEnv, cursors: Cursor, batch: UsageBatch, { only, now }: TranscriptOptions): Cursor {
  const isTranscript = (name: string) => name.endsWith('.jsonl');
  const files = only ? [fileAt(only) ?? [], filesUnder(only.replace(/\.jsonl$/, ''), isTranscript)].flat() : filesUnder(transcriptsFolder(env), isTranscript);
  return readFiles(files, cursors, batch, (file, from) => {
    const session_id = sessionOf(env, file.path);
    const put: UsageBatch['put'] = (event) => batch.put({ ...event, session_id });
    return readTranscript(file, from, { ...batch, put }, only !== undefined || now - file.changedAt > QUIET_MS);
  });
}

/**
 * Reads one transcript. Claude Code writes a message in several lines, each with the counters known so far. The message ends with its stop reason, with the
 * next turn, or after a while without new lines. Until then the message is read again from its start each time. The batch ignores events that it already has.
 */
function readTranscript({ path }: FoundFile, from: FileCursor | undefined, batch: UsageBatch, isOver: boolean): FileCursor {
  const open = new Map<string, { event: UsageEvent; start: number }>();
  const close = (id: string) => {
    const message = open.get(id);
    if (message) batch.put(message.event);
    open.delete(id);
  };
  let offset = from?.offset ?? 0;
  for (const line of linesFrom(path, offset)) {
    if (batch.full()) break;
    offset = line.end;
    const entry = objectOn(line, '"usage"', '"user"');
    if (entry?.type === 'user') for (const id of open.keys()) close(id);
    const event = entry?.type === 'assistant' && (momentOf(entry.timestamp) ?? 0) >= batch.since ? eventOf(entry) : undefined;
    if (!event) continue;
    open.set(event.id, { event, start: open.get(event.id)?.start ?? line.start });
    if (typeof recordOf(entry?.message)?.stop_reason === 'string') close(event.id);
  }
  if (isOver) for (const id of open.keys()) close(id);
  return { offset: Math.min(offset, ...[...open.values()].map(({ start }) => start)) };
}

function eventOf(entry: Record<string, unknown>): UsageEvent | undefined {
  const message = recordOf(entry.message);
  const usage = recordOf(message?.usage);
  const [input, output] = [countOf(usage?.input_tokens), countOf(usage?.output_tokens)];
  if (!message || !usage || input === undefined || output === undefined || typeof message.id !== 'string') return undefined;
  const id = hashOf(`claude-code ${message.id} ${String(entry.requestId ?? '')}`);
  const payload = {
    id,
    model: nameOfModel(message.model),
    usage: {
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: countOf(usage.cache_read_input_tokens) ?? 0,
      cache_creation_input_tokens: countOf(usage.cache_creation_input_tokens) ?? 0,
      cache_creation: { ephemeral_1h_input_tokens: countOf(recordOf(usage.cache_creation)?.ephemeral_1h_input_tokens) ?? 0 },
    },
  };
  return isCounted('claude-code', payload) ? { id, agent: 'claude-code', source: 'claude-code', payload } : undefined;
}

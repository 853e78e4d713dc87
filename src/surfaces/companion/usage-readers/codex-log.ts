import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { codexStores } from '../../../clients/codex.ts';
import { parseJson, recordOf } from '../../../wire/json.ts';
import { codexEvent } from './codex-event.ts';
import { rolloutsOf } from './codex-rollouts.ts';
import { type ForeignStore, openForeign } from './foreign-store.ts';
import { type FileCursor, type FoundFile, filesOf, linesFrom, readFiles } from './log-files.ts';
import { type Cursor, momentOf, type UsageBatch, type UsageEvent } from './usage-batch.ts';

/** Reads Codex's log for threads that have no rollout. Threads that have one are skipped here and read from the rollout, because Codex soon clears the log. */
export async function readCodexLog(env: NodeJS.ProcessEnv, cursor: Cursor, batch: UsageBatch): Promise<{ cursor: Cursor; tooOld: boolean }> {
  const rollouts = rolloutsOf(env);
  const isKept = (thread: string | undefined) => thread !== undefined && rollouts.some(({ path }) => path.includes(thread));
  const stores = codexStores(env);
  const database = newestLog(stores.database);
  const store = database === undefined ? undefined : await openForeign(database);
  if (store === 'too-old') return { cursor, tooOld: true };
  if (store) {
    try {
      return { cursor: { ...cursor, log: { path: database, id: readLog(store, lastId(cursor, database), batch, isKept) } }, tooOld: false };
    } finally {
      store.close();
    }
  }
  // Older versions of Codex write the log to text files instead of a database.
  const logs = database ? [] : filesOf(stores.logs);
  const texts = readFiles<LogCursor>(logs, recordOf(cursor.texts) ?? {}, batch, (file, from) => readText(file, from, batch, isKept));
  return { cursor: { ...cursor, texts }, tooOld: false };
}

function newestLog({ folder, name: pattern }: { readonly folder: string; readonly name: RegExp }): string | undefined {
  const number = (name: string) => Number(pattern.exec(name)?.[1] ?? Number.NaN);
  try {
    const [newest] = readdirSync(folder)
      .filter((name) => !Number.isNaN(number(name)))
      .sort((one, other) => number(other) - number(one));
    return newest && join(folder, newest);
  } catch {
    return undefined;
  }
}

function lastId(cursor: Cursor, database: string | undefined): number {
  const known = recordOf(cursor.log);
  return known?.path === database && typeof known?.id === 'number' ? known.id : 0;
}

const BATCH_SIZE = 200;
const COMPLETED = "feedback_log_body like '%response.completed%' and length(feedback_log_body) < 4000000";

function readLog(store: ForeignStore, from: number, batch: UsageBatch, isKept: (thread: string | undefined) => boolean): number {
  const newest = Number(store.all('select coalesce(max(id), 0) as id from logs')[0]?.id ?? 0);
  // A smaller newest id means that the log was cleared or the database was replaced, so the log is read from its start.
  let last = newest < from ? 0 : from;
  const hasWhole = (thread: string) =>
    store.all(`select 1 from logs where thread_id = ? and feedback_log_body like '%{"type":"response.completed"%' limit 1`, thread).length > 0;
  for (;;) {
    const rows = store.all(
      `select id, target, thread_id, feedback_log_body as body from logs where id > ? and id <= ? and ts >= ? and ${COMPLETED} order by id limit ${BATCH_SIZE}`,
      last,
      newest,
      Math.floor(batch.since / 1000),
    );
    for (const { id, target, thread_id, body } of rows) {
      if (batch.full()) return last;
      last = Number(id);
      const completed = completedIn(String(body), { target: String(target), thread: typeof thread_id === 'string' ? thread_id : undefined });
      if (!completed?.event || isKept(completed.thread)) continue;
      if (completed.form === 'whole' || completed.thread === undefined || !hasWhole(completed.thread)) batch.put(completed.event);
    }
    if (rows.length < BATCH_SIZE) return newest;
  }
}

interface LogCursor extends FileCursor {
  /** Whether the file contains whole responses. If it does, its lines that contain only counters repeat the same usage and are skipped. */
  readonly whole?: boolean | undefined;
}

function readText({ path }: FoundFile, from: LogCursor | undefined, batch: UsageBatch, isKept: (thread: string | undefined) => boolean): LogCursor {
  let cursor: LogCursor = from ?? { offset: 0 };
  for (const line of linesFrom(path, cursor.offset)) {
    if (batch.full()) break;
    cursor = { ...cursor, offset: line.end };
    if (!line.bytes?.includes('response.completed')) continue;
    const text = line.bytes.toString('utf8');
    const completed = completedIn(text);
    if (completed?.form === 'whole') cursor = { ...cursor, whole: true };
    const isOld = (momentOf(/\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(text)?.[0]) ?? 0) < batch.since;
    if (!completed?.event || isOld || isKept(completed.thread) || (completed.form === 'counted' && cursor.whole)) continue;
    batch.put(completed.event);
  }
  return cursor;
}

/** A completed response in Codex's log. */
interface Completed {
  readonly thread: string | undefined;
  /**
   * `whole`: the entry contains the full response with its id. `counted`: the entry
   * contains only counters. Some versions of Codex log both for the same response.
   */
  readonly form: 'whole' | 'counted';
  readonly event: UsageEvent | undefined;
}

const WHOLE = '{"type":"response.completed"';
/** Codex logs the same counters twice, once for logs and once for traces. The entries for traces are skipped. */
const AGAIN = 'codex_otel.trace_safe';

/** Reads a completed response from a log entry. Returns undefined if the entry is something else. */
function completedIn(entry: string, about: { thread?: string | undefined; target?: string | undefined } = {}): Completed | undefined {
  if (about.target === AGAIN || entry.includes(AGAIN)) return undefined;
  const thread = about.thread ?? field(entry, 'conversation.id') ?? field(entry, 'thread_id') ?? field(entry, 'thread.id');
  const at = entry.indexOf(WHOLE);
  if (at >= 0) {
    const response = recordOf(recordOf(parseJson(entry.slice(at)))?.response);
    return { thread, form: 'whole', event: typeof response?.id === 'string' ? codexEvent(response.id, response.model, response.usage) : undefined };
  }
  if (field(entry, 'event.kind') !== 'response.completed') return undefined;
  const count = (name: string) => (/^\d{1,15}$/.test(field(entry, name) ?? '') ? Number(field(entry, name)) : undefined);
  const usage = {
    input_tokens: count('input_token_count'),
    cached_input_tokens: count('cached_token_count'),
    cache_write_input_tokens: count('cache_write_token_count'),
    output_tokens: count('output_token_count'),
    reasoning_output_tokens: count('reasoning_token_count'),
  };
  return { thread, form: 'counted', event: codexEvent(`${thread} ${field(entry, 'event.timestamp')}`, field(entry, 'model'), usage) };
}

/**
 * Finds the value of a field that is written as `name=value` or `name="value"`.
 * Takes the last match, because an entry may quote other text before its own fields.
 */
function field(entry: string, name: string): string | undefined {
  const found = [...entry.matchAll(new RegExp(`(?<=^|[\\s{])${name.replaceAll('.', '\\.')}="?([A-Za-z0-9._:+/-]{1,200})`, 'g'))].at(-1);
  return found?.[1];
}

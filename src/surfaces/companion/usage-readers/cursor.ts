import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { cursorStore } from '../../../clients/cursor.ts';
import { nameOfModel } from '../../../features/team/usage/span.ts';
import { hashOf } from '../hash.ts';
import { type ForeignStore, openForeign, type SqliteRow } from './foreign-store.ts';
import { type Cursor, countOf, isCounted, momentOf, type UsageBatch, type UsageEvent } from './usage-batch.ts';

/** The counters of an unfinished answer may still change. An answer of this age counts as complete even if nothing marks its end. */
const QUIET_MS = 60_000;
/** The number of rows that are read at a time. The store may be gigabytes large, so other work can run between two batches. */
const BATCH_SIZE = 2_000;

/**
 * Reads the counters, model and time of each answer, never its text. Cursor gives a rewritten
 * entry a new row id, so every new or changed answer is above the last row that was read.
 */
const NEW_ANSWERS = `
  select rowid as row, key, input, output, model, at, ended from (
    select rowid, key,
      json_extract(text, '$.tokenCount.inputTokens') as input,
      json_extract(text, '$.tokenCount.outputTokens') as output,
      json_extract(text, '$.modelInfo.modelName') as model,
      json_extract(text, '$.createdAt') as at,
      json_extract(text, '$.timingInfo.clientEndTime') as ended
    from (select rowid, key, case when json_valid(cast(value as text)) then cast(value as text) else '{}' end as text
          from cursorDiskKV where rowid > ? and rowid <= ? and substr(key, 1, 9) = 'bubbleId:'))
  where input > 0 or output > 0 order by row`;
const MODEL_OF =
  "select json_extract(cast(value as text), '$.modelConfig.modelName') as model from cursorDiskKV where key = ? and json_valid(cast(value as text))";

export async function readCursor(env: NodeJS.ProcessEnv, cursor: Cursor, batch: UsageBatch, now: number): Promise<{ cursor: Cursor; tooOld: boolean }> {
  const path = cursorStore(env);
  const store = await openForeign(path);
  if (store === 'too-old') return { cursor, tooOld: true };
  if (!store) return { cursor, tooOld: false };
  try {
    const newest = Number(store.all('select coalesce(max(rowid), 0) as row from cursorDiskKV')[0]?.row ?? 0);
    const from = typeof cursor.row === 'number' && cursor.row <= newest ? cursor.row : 0;
    return { cursor: { row: await readAnswers(store, from, newest, batch, now) }, tooOld: false };
  } finally {
    store.close();
  }
}

async function readAnswers(store: ForeignStore, from: number, newest: number, batch: UsageBatch, now: number): Promise<number> {
  let held: number | undefined;
  for (let last = from; last < newest; last += BATCH_SIZE) {
    for (const answer of store.all(NEW_ANSWERS, last, Math.min(last + BATCH_SIZE, newest))) {
      const before = Number(answer.row) - 1;
      if (batch.full()) return held ?? before;
      const at = momentOf(answer.at);
      // An answer without a date is skipped. Nobody can tell whether it is older than the ledger, or how long to wait for its end.
      if (at === undefined || at < batch.since) continue;
      // After a clock change, the date of an answer may be in the future. Such an answer must not delay the other answers until that date.
      if (answer.ended === null && Math.abs(now - at) < QUIET_MS) held ??= before;
      else put(store, answer, batch);
    }
    await yieldToEventLoop();
  }
  return held ?? newest;
}

function put(store: ForeignStore, answer: SqliteRow, batch: UsageBatch): void {
  const event = eventOf(answer, answer.model ?? store.all(MODEL_OF, `composerData:${String(answer.key).split(':')[1]}`)[0]?.model);
  if (event) batch.put(event);
}

function eventOf({ key, input, output }: SqliteRow, model: unknown): UsageEvent | undefined {
  const counts = { model: nameOfModel(model), input_tokens: countOf(input), output_tokens: countOf(output) };
  if (counts.input_tokens === undefined || counts.output_tokens === undefined) return undefined;
  const id = hashOf(`cursor ${String(key)}`);
  const payload = { id, direct_counts: counts };
  return isCounted('cursor', payload) ? { id, agent: 'cursor', source: 'cursor', payload } : undefined;
}

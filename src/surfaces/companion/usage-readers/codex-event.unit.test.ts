import { expect, test } from 'vitest';
import { rolloutPath, testBatch, writeCodexLog, writeLines } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { readCodexLog } from './codex-log.ts';
import { readRollouts } from './codex-rollouts.ts';

test('an entry without separate input and output counters gives no event [companion.watch.no-split-no-event]', async () => {
  const home = temporaryFolder();
  const timestamp = new Date().toISOString();
  writeLines(rolloutPath(home), [
    { timestamp, type: 'event_msg', payload: { type: 'token_count', info: null } },
    { timestamp, type: 'event_msg', payload: { type: 'token_count', info: { total_token_usage: { total_tokens: 9 }, last_token_usage: { total_tokens: 9 } } } },
    { timestamp, type: 'token_usage_record', payload: { response_id: 'resp_1', usage: { total_tokens: 9 } } },
    { timestamp, type: 'token_usage_record', payload: { response_id: 'resp_2', usage: { input_tokens: 5, cached_input_tokens: 9, output_tokens: 1 } } },
  ]);
  writeCodexLog(home, [
    { body: 'SSE event: {"type":"response.completed","response":{"id":"resp_3","usage":null}}' },
    { body: 'SSE event: {"type":"response.completed","response":{"id":"resp_4","usage":{"total_tokens":9}}}' },
    { body: 'event.name="codex.sse_event" event.kind=response.completed tool_token_count=9 conversation.id=x' },
    { body: 'event.name="codex.sse_event" event.kind=response.completed error.message=x' },
    { body: 'SSE event: {"type":"response.completed", broken' },
  ]);
  const batch = testBatch();
  readRollouts({ HOME: home }, {}, batch);
  await readCodexLog({ HOME: home }, {}, batch);
  expect(batch.events).toEqual([]);
});

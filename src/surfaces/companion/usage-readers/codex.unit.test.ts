import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { countedEntry, rolloutLines, rolloutPath, testBatch, wholeEntry, writeCodexLog, writeLines } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { readCodexLog, readRollouts } from './codex.ts';
import type { Cursor, UsageBatch } from './usage-batch.ts';

/** One after the other, as the watcher does. */
async function readCodex(env: NodeJS.ProcessEnv, { rollouts = {}, log = {} }: { rollouts?: Cursor; log?: Cursor }, batch: UsageBatch) {
  return { cursor: { rollouts: readRollouts(env, rollouts, batch), log: (await readCodexLog(env, log, batch)).cursor } };
}

const outputs = (events: readonly { payload: Readonly<Record<string, unknown>> }[]) =>
  events.map(({ payload }) => (payload.usage as { output_tokens: number }).output_tokens);

const COUNTERS = {
  model: 'gpt-5.1-codex',
  usage: {
    input_tokens: 1_200,
    input_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 0 },
    output_tokens: 55,
    output_tokens_details: { reasoning_tokens: 20 },
  },
};

test('split counters are read from the response.completed entries of the log [companion.watch.codex-counters]', async () => {
  const home = temporaryFolder();
  writeCodexLog(home, [{ body: 'unrelated' }, { body: wholeEntry('resp_1', 55) }, { body: wholeEntry('resp_2', 60) }, { body: wholeEntry('resp_2', 60) }]);
  const batch = testBatch();
  const { cursor } = await readCodex({ HOME: home }, {}, batch);
  expect(outputs(batch.events)).toEqual([55, 60]);
  expect(batch.events[0]).toMatchObject({ agent: 'codex', source: 'codex', payload: COUNTERS });
  writeCodexLog(home, [{ body: wholeEntry('resp_3', 70) }]);
  const next = testBatch();
  await readCodex({ HOME: home }, cursor, next);
  expect(outputs(next.events)).toEqual([70]);
});

test('where only counters are logged they count, once for both of their readers; beside whole responses they do not', async () => {
  const [alone, beside] = [temporaryFolder(), temporaryFolder()];
  const counted = [
    { body: countedEntry(55), target: 'codex_otel.log_only' },
    { body: countedEntry(55, '2026-11-16T07:20:43.946Z'), target: 'codex_otel.trace_safe' },
  ];
  writeCodexLog(alone, counted);
  writeCodexLog(beside, [{ body: wholeEntry('resp_1', 55) }, ...counted]);
  const [one, both] = [testBatch(), testBatch()];
  await readCodex({ HOME: alone }, {}, one);
  await readCodex({ HOME: beside }, {}, both);
  expect(one.events.map(({ payload }) => payload)).toMatchObject([COUNTERS]);
  expect(outputs(both.events)).toEqual([55]);
});

test.each([true, false])(
  'a thread that has a rollout is read from there: what the log repeats of it does not count again (responses named: %s)',
  async (named) => {
    const home = temporaryFolder();
    writeLines(rolloutPath(home, 'thread-1'), rolloutLines({ resp_1: 55, resp_2: 60 }, { thread: 'thread-1', named }));
    writeCodexLog(home, [{ body: wholeEntry('resp_1', 55) }, { body: wholeEntry('resp_2', 60) }, { body: wholeEntry('resp_9', 90), thread: 'thread-2' }]);
    const batch = testBatch();
    const { cursor } = await readCodex({ HOME: home }, {}, batch);
    expect(outputs(batch.events)).toEqual([55, 60, 90]);
    const again = testBatch();
    await readCodex({ HOME: home }, cursor, again);
    expect(again.events).toEqual([]);
  },
);

test('an older rollout names no responses: each token count once, also where it is repeated or copied into a fork', async () => {
  const home = temporaryFolder();
  writeLines(rolloutPath(home, 'aaa'), rolloutLines({ one: 55, two: 60 }, { thread: 'aaa', named: false }));
  writeLines(rolloutPath(home, 'bbb'), rolloutLines({ one: 55, two: 60, three: 70 }, { thread: 'bbb', named: false, forkedFrom: 'aaa' }));
  writeLines(rolloutPath(home, 'ccc'), rolloutLines({ one: 55 }, { thread: 'ccc', named: false }));
  const batch = testBatch();
  await readCodex({ HOME: home }, {}, batch);
  expect(outputs(batch.events).sort()).toEqual([55, 55, 60, 70]);
});

test('an archived rollout is the same rollout', async () => {
  const home = temporaryFolder();
  const path = writeLines(rolloutPath(home), rolloutLines({ one: 55 }, { named: false }));
  const { cursor } = await readCodex({ HOME: home }, {}, testBatch());
  const archived = join(home, '.codex/archived_sessions', path.split('/').at(-1) ?? '');
  mkdirSync(dirname(archived), { recursive: true });
  renameSync(path, archived);
  const batch = testBatch();
  await readCodex({ HOME: home }, cursor, batch);
  expect(batch.events).toEqual([]);
});

test('before there was a database, the log was text', async () => {
  const home = temporaryFolder();
  writeLines(join(home, '.codex/log/codex-tui.log'), [
    `2026-11-16T07:20:43.945Z  INFO codex_otel.log_only: ${countedEntry(55)}`,
    `2026-11-16T07:20:43.945Z  INFO codex_otel.trace_safe: ${countedEntry(55, '2026-11-16T07:20:43.946Z')}`,
    '2026-11-16T07:20:43.945Z  INFO codex: stream closed before response.completed',
  ]);
  const batch = testBatch();
  await readCodex({ CODEX_HOME: join(home, '.codex'), HOME: temporaryFolder() }, {}, batch);
  expect(outputs(batch.events)).toEqual([55]);
});

test('without split counters there is no event [companion.watch.no-split-no-event]', async () => {
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
  await readCodex({ HOME: home }, {}, batch);
  expect(batch.events).toEqual([]);
});

test('of logs and rollouts nothing but numbers, the model and a hash is taken [companion.watch.numeric-only]', async () => {
  const home = temporaryFolder();
  writeLines(rolloutPath(home), rolloutLines({ resp_1: 55 }));
  writeCodexLog(home, [{ body: wholeEntry('resp_2', 60) }, { body: countedEntry(70), target: 'codex_otel.log_only', thread: 'thread-7' }]);
  const batch = testBatch();
  await readCodex({ HOME: home }, {}, batch);
  expect(batch.events.length).toBeGreaterThan(1);
  expect(JSON.stringify(batch.events)).not.toContain('CANARY');
});

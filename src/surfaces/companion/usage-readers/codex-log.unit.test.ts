import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  countedEntry,
  outputsOf,
  rolloutLines,
  rolloutPath,
  testBatch,
  wholeEntry,
  writeCodexLog,
  writeLines,
} from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { readCodexLog } from './codex-log.ts';
import { readRollouts } from './codex-rollouts.ts';

const COUNTERS = {
  model: 'gpt-5.1-codex',
  usage: {
    input_tokens: 1_200,
    input_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 0 },
    output_tokens: 55,
    output_tokens_details: { reasoning_tokens: 20 },
  },
};

test('reads separate input and output counters from the response.completed entries of the log [companion.watch.codex-counters]', async () => {
  const home = temporaryFolder();
  writeCodexLog(home, [{ body: 'unrelated' }, { body: wholeEntry('resp_1', 55) }, { body: wholeEntry('resp_2', 60) }, { body: wholeEntry('resp_2', 60) }]);
  const batch = testBatch();
  const { cursor } = await readCodexLog({ HOME: home }, {}, batch);
  expect(outputsOf(batch.events)).toEqual([55, 60]);
  expect(batch.events[0]).toMatchObject({ agent: 'codex', source: 'codex', payload: COUNTERS });
  writeCodexLog(home, [{ body: wholeEntry('resp_3', 70) }]);
  const next = testBatch();
  await readCodexLog({ HOME: home }, cursor, next);
  expect(outputsOf(next.events)).toEqual([70]);
});

test('counts an entry with only counters once although Codex logs it twice, and not at all if the log also has the whole responses', async () => {
  const [alone, beside] = [temporaryFolder(), temporaryFolder()];
  const counted = [
    { body: countedEntry(55), target: 'codex_otel.log_only' },
    { body: countedEntry(55, '2026-11-16T07:20:43.946Z'), target: 'codex_otel.trace_safe' },
  ];
  writeCodexLog(alone, counted);
  writeCodexLog(beside, [{ body: wholeEntry('resp_1', 55) }, ...counted]);
  const [one, both] = [testBatch(), testBatch()];
  await readCodexLog({ HOME: alone }, {}, one);
  await readCodexLog({ HOME: beside }, {}, both);
  expect(one.events.map(({ payload }) => payload)).toMatchObject([COUNTERS]);
  expect(outputsOf(both.events)).toEqual([55]);
});

test.each([true, false])('reads a thread with a rollout from the rollout and ignores its copies in the log (responses named: %s)', async (named) => {
  const home = temporaryFolder();
  writeLines(rolloutPath(home, 'thread-1'), rolloutLines({ resp_1: 55, resp_2: 60 }, { thread: 'thread-1', named }));
  writeCodexLog(home, [{ body: wholeEntry('resp_1', 55) }, { body: wholeEntry('resp_2', 60) }, { body: wholeEntry('resp_9', 90), thread: 'thread-2' }]);
  const batch = testBatch();
  // The two stores are read one after the other, as the watcher does.
  const rollouts = readRollouts({ HOME: home }, {}, batch);
  const { cursor } = await readCodexLog({ HOME: home }, {}, batch);
  expect(outputsOf(batch.events)).toEqual([55, 60, 90]);
  const again = testBatch();
  readRollouts({ HOME: home }, rollouts, again);
  await readCodexLog({ HOME: home }, cursor, again);
  expect(again.events).toEqual([]);
});

test('reads the text log of versions that have no log database', async () => {
  const home = temporaryFolder();
  writeLines(join(home, '.codex/log/codex-tui.log'), [
    `2026-11-16T07:20:43.945Z  INFO codex_otel.log_only: ${countedEntry(55)}`,
    `2026-11-16T07:20:43.945Z  INFO codex_otel.trace_safe: ${countedEntry(55, '2026-11-16T07:20:43.946Z')}`,
    '2026-11-16T07:20:43.945Z  INFO codex: stream closed before response.completed',
  ]);
  const batch = testBatch();
  await readCodexLog({ CODEX_HOME: join(home, '.codex'), HOME: temporaryFolder() }, {}, batch);
  expect(outputsOf(batch.events)).toEqual([55]);
});

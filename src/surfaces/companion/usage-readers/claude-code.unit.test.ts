import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CANARY, claudeLine, outputsOf, testBatch, transcriptPath, writeLines } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { readClaudeCode } from './claude-code.ts';

const now = () => Date.now();

test('counts a message once, with its final counters, however many lines it has', () => {
  const home = temporaryFolder();
  const open = { stop: null };
  writeLines(transcriptPath(home), [
    { type: 'user', message: { content: CANARY } },
    claudeLine('one', 1, open),
    claudeLine('one', 77),
    claudeLine('one', 77),
    { type: 'user', message: { content: CANARY } },
    claudeLine('two', 5, open),
    claudeLine('two', 9, open),
    { type: 'user', message: { content: CANARY } },
  ]);
  const batch = testBatch();
  readClaudeCode({ HOME: home }, {}, batch, { now: now() });
  expect(outputsOf(batch.events)).toEqual([77, 9]);
  expect(batch.events[0]).toMatchObject({
    agent: 'claude-code',
    source: 'claude-code',
    payload: { model: 'claude-sonnet-4-5-20250929', usage: { input_tokens: 10, cache_read_input_tokens: 2_000, cache_creation_input_tokens: 300 } },
  });
});

test('waits for a message or a line that is still being written, and continues from its start the next time', () => {
  const home = temporaryFolder();
  const path = writeLines(transcriptPath(home), [claudeLine('one', 77), claudeLine('two', 3, { stop: null })]);
  const batch = testBatch();
  const first = readClaudeCode({ HOME: home }, {}, batch, { now: now() });
  expect(outputsOf(batch.events)).toEqual([77]);
  const text = JSON.stringify(claudeLine('two', 8));
  appendFileSync(path, text.slice(0, 50));
  const second = readClaudeCode({ HOME: home }, first, batch, { now: now() });
  expect(outputsOf(batch.events)).toEqual([77]);
  appendFileSync(path, `${text.slice(50)}\n`);
  readClaudeCode({ HOME: home }, second, batch, { now: now() });
  expect(outputsOf(batch.events)).toEqual([77, 8]);
});

test('a last message without a mark of its end is complete after a while, or immediately if its run has stopped', () => {
  const home = temporaryFolder();
  const path = writeLines(transcriptPath(home), [claudeLine('one', 3, { stop: null })]);
  const [later, stopped] = [testBatch(), testBatch()];
  readClaudeCode({ HOME: home }, {}, later, { now: now() + 120_000 });
  readClaudeCode({ HOME: home }, {}, stopped, { now: now(), only: path });
  expect([outputsOf(later.events), outputsOf(stopped.events)]).toEqual([[3], [3]]);
});

test('reads the transcripts of one run and its subagents, or all transcripts in the folder that CLAUDE_CONFIG_DIR sets', () => {
  const home = temporaryFolder();
  const only = writeLines(transcriptPath(home), [claudeLine('one', 1)]);
  writeLines(only.replace('.jsonl', '/subagents/agent-1.jsonl'), [claudeLine('two', 2)]);
  writeLines(transcriptPath(home, 'run-2'), [claudeLine('three', 3)]);
  const [one, all] = [testBatch(), testBatch()];
  readClaudeCode({ HOME: home }, {}, one, { now: now(), only });
  readClaudeCode({ HOME: temporaryFolder(), CLAUDE_CONFIG_DIR: join(home, '.claude') }, {}, all, { now: now() });
  expect(outputsOf(one.events)).toEqual([1, 2]);
  expect(outputsOf(all.events).sort()).toEqual([1, 2, 3]);
});

test('a line without separate input and output counters gives no event [companion.watch.no-split-no-event]', () => {
  const home = temporaryFolder();
  const usages = [
    null,
    {},
    { total_tokens: 500 },
    { input_tokens: 500 },
    { output_tokens: 5 },
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: '5', output_tokens: 5 },
  ];
  writeLines(transcriptPath(home), [...usages.map((usage, at) => claudeLine(`m${at}`, 0, { usage })), '{ broken', '"text"', 'usage']);
  const batch = testBatch();
  readClaudeCode({ HOME: home }, {}, batch, { now: now() });
  expect(batch.events).toEqual([]);
});

test('skips usage from before the start, and stops reading when the batch is full', () => {
  const home = temporaryFolder();
  writeLines(transcriptPath(home), [claudeLine('old', 1, { at: '2026-01-01T00:00:00Z' }), claudeLine('one', 2), claudeLine('two', 3), claudeLine('three', 4)]);
  const full = testBatch({ since: now() - 60_000, room: 1 });
  const cursor = readClaudeCode({ HOME: home }, {}, full, { now: now() });
  expect(outputsOf(full.events)).toEqual([2]);
  const rest = testBatch({ since: now() - 60_000 });
  readClaudeCode({ HOME: home }, cursor, rest, { now: now() });
  expect(outputsOf(rest.events)).toEqual([3, 4]);
});

test('rereads a file that was replaced by a shorter one', () => {
  const home = temporaryFolder();
  const path = writeLines(transcriptPath(home), [claudeLine('one', 1), claudeLine('two', 2)]);
  const cursor = readClaudeCode({ HOME: home }, {}, testBatch(), { now: now() });
  writeFileSync(path, `${JSON.stringify(claudeLine('three', 3))}\n`);
  const batch = testBatch();
  readClaudeCode({ HOME: home }, cursor, batch, { now: now() });
  expect(outputsOf(batch.events)).toEqual([3]);
});

test('reads only counters, the model and ids, and hashes the ids [companion.watch.numeric-only]', () => {
  const home = temporaryFolder();
  const evil = claudeLine('one', 1) as { message: { model: string; id: string } };
  evil.message.model = CANARY;
  evil.message.id = CANARY;
  writeLines(transcriptPath(home), [evil, claudeLine('two', 1)]);
  const batch = testBatch();
  readClaudeCode({ HOME: home }, {}, batch, { now: now() });
  expect(batch.events).toHaveLength(2);
  expect(JSON.stringify(batch.events)).not.toContain('CANARY');
});

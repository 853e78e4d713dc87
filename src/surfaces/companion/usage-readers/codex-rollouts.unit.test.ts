import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { outputsOf, rolloutLines, rolloutPath, testBatch, writeLines } from '../../../testing/stand-ins/usage-stores.ts';
import { temporaryFolder } from '../../../testing/store/database.ts';
import { readRollouts } from './codex-rollouts.ts';

test('in an older rollout without response ids, counts a token count once even if it is repeated or copied into a fork', () => {
  const home = temporaryFolder();
  writeLines(rolloutPath(home, 'aaa'), rolloutLines({ one: 55, two: 60 }, { thread: 'aaa', named: false }));
  writeLines(rolloutPath(home, 'bbb'), rolloutLines({ one: 55, two: 60, three: 70 }, { thread: 'bbb', named: false, forkedFrom: 'aaa' }));
  writeLines(rolloutPath(home, 'ccc'), rolloutLines({ one: 55 }, { thread: 'ccc', named: false }));
  const batch = testBatch();
  readRollouts({ HOME: home }, {}, batch);
  expect(outputsOf(batch.events).sort()).toEqual([55, 55, 60, 70]);
});

test('recognizes an archived rollout as the same rollout', () => {
  const home = temporaryFolder();
  const path = writeLines(rolloutPath(home), rolloutLines({ one: 55 }, { named: false }));
  const cursors = readRollouts({ HOME: home }, {}, testBatch());
  const archived = join(home, '.codex/archived_sessions', path.split('/').at(-1) ?? '');
  mkdirSync(dirname(archived), { recursive: true });
  renameSync(path, archived);
  const batch = testBatch();
  readRollouts({ HOME: home }, cursors, batch);
  expect(batch.events).toEqual([]);
});

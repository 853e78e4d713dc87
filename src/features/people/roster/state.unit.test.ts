import { expect, test } from 'vitest';
import { type StateFacts, stateBy } from './state.ts';

const NOW = 1_000_000_000;
const MINUTE = 60_000;
const SILENT: StateFacts = { lastSeen: null, waitsOnPerson: false, lostAt: null, endedAt: null, lastRefused: false };
const heard = (ago: number, more: Partial<StateFacts> = {}): StateFacts => ({ ...SILENT, lastSeen: NOW - ago, ...more });

test.each([
  ['seen just now', heard(0), 'working'],
  ['seen 90 s ago', heard(90_000), 'working'],
  ['seen more than 90 s ago', heard(90_001), 'quiet'],
  ['seen 30 min ago', heard(30 * MINUTE), 'quiet'],
  ['seen more than 30 min ago', heard(30 * MINUTE + 1), 'stale'],
  ['never seen', SILENT, 'stale'],
  ['last reply refused', heard(1_000, { lastRefused: true }), 'blocked'],
  ['last reply refused, and silent since', heard(8 * 60 * MINUTE, { lastRefused: true }), 'blocked'],
  ['a lease expired after it was last seen', heard(5 * MINUTE, { lostAt: NOW - 3 * MINUTE }), 'lost'],
  ['lost its work, last reply refused', heard(5 * MINUTE, { lostAt: NOW - 3 * MINUTE, lastRefused: true }), 'lost'],
  ['seen again after it lost something', heard(MINUTE, { lostAt: NOW - 3 * MINUTE }), 'working'],
  ['never seen, and lost', { ...SILENT, lostAt: NOW }, 'lost'],
  ['reported its end', heard(5 * MINUTE, { endedAt: NOW - 5 * MINUTE }), 'ended'],
  ['ended, its last call recorded a moment later', heard(5 * MINUTE - 20, { endedAt: NOW - 5 * MINUTE }), 'ended'],
  ['ended, last reply refused', heard(5 * MINUTE, { endedAt: NOW - 5 * MINUTE, lastRefused: true }), 'ended'],
  ['ended, and seen again', heard(MINUTE, { endedAt: NOW - 5 * MINUTE }), 'working'],
  ['lost, and ended after that', heard(9 * MINUTE, { lostAt: NOW - 7 * MINUTE, endedAt: NOW - 5 * MINUTE }), 'ended'],
  ['ended, and then lost what it left behind', heard(9 * MINUTE, { lostAt: NOW - 5 * MINUTE, endedAt: NOW - 7 * MINUTE }), 'lost'],
  ['a question waits', heard(0, { waitsOnPerson: true }), 'waiting'],
  ['a question of a lost agent waits', heard(9 * MINUTE, { waitsOnPerson: true, lostAt: NOW - 5 * MINUTE }), 'waiting'],
] as const)('%s: %o is %s', (_, facts, state) => {
  expect(stateBy(facts, NOW)).toBe(state);
});

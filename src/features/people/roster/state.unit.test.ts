import { expect, test } from 'vitest';
import { type StateFacts, stateBy } from './state.ts';

const NOW = 1_000_000_000;
const MINUTE = 60_000;
const SILENT: StateFacts = { lastSeen: null, waitsOnPerson: false, lostAt: null, endedAt: null, lastRefused: false };
const heard = (ago: number, more: Partial<StateFacts> = {}): StateFacts => ({ ...SILENT, lastSeen: NOW - ago, ...more });

test.each([
  ['heard just now', heard(0), 'working'],
  ['heard 90 s ago', heard(90_000), 'working'],
  ['heard a moment longer ago', heard(90_001), 'quiet'],
  ['heard 30 min ago', heard(30 * MINUTE), 'quiet'],
  ['heard longer ago', heard(30 * MINUTE + 1), 'stale'],
  ['never heard', SILENT, 'stale'],
  ['last reply refused', heard(1_000, { lastRefused: true }), 'blocked'],
  ['last reply refused, and silent since', heard(8 * 60 * MINUTE, { lastRefused: true }), 'blocked'],
  ['a lease ran out after it was last heard', heard(5 * MINUTE, { lostAt: NOW - 3 * MINUTE }), 'lost'],
  ['lost what it held, last reply refused', heard(5 * MINUTE, { lostAt: NOW - 3 * MINUTE, lastRefused: true }), 'lost'],
  ['back since it lost something', heard(MINUTE, { lostAt: NOW - 3 * MINUTE }), 'working'],
  ['never heard, and lost', { ...SILENT, lostAt: NOW }, 'lost'],
  ['said that it ended', heard(5 * MINUTE, { endedAt: NOW - 5 * MINUTE }), 'ended'],
  ['ended, its last call noted a moment later', heard(5 * MINUTE - 20, { endedAt: NOW - 5 * MINUTE }), 'ended'],
  ['ended, last reply refused', heard(5 * MINUTE, { endedAt: NOW - 5 * MINUTE, lastRefused: true }), 'ended'],
  ['ended, and heard again', heard(MINUTE, { endedAt: NOW - 5 * MINUTE }), 'working'],
  ['lost, and ended after that', heard(9 * MINUTE, { lostAt: NOW - 7 * MINUTE, endedAt: NOW - 5 * MINUTE }), 'ended'],
  ['ended, and lost after that what it had left behind', heard(9 * MINUTE, { lostAt: NOW - 5 * MINUTE, endedAt: NOW - 7 * MINUTE }), 'lost'],
  ['a question waits', heard(0, { waitsOnPerson: true }), 'waiting'],
  ['a question waits of one that was lost', heard(9 * MINUTE, { waitsOnPerson: true, lostAt: NOW - 5 * MINUTE }), 'waiting'],
] as const)('%s: %o is %s', (_, facts, state) => {
  expect(stateBy(facts, NOW)).toBe(state);
});

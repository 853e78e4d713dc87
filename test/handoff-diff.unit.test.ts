import { expect, test } from 'vitest';
import { handoffParts, lineChanges } from '../web/pages/cycles/handoff-diff.ts';

test('reports new and removed lines of two handoffs, counting equal lines', () => {
  expect(lineChanges(['a', 'b', 'b'], ['b', 'c'])).toEqual([
    { text: 'b', change: 'same' },
    { text: 'c', change: 'added' },
    { text: 'a', change: 'gone' },
    { text: 'b', change: 'gone' },
  ]);
  const before = { endpoints: [{ method: 'GET', path: '/a' }], extras: { retries: 2 } };
  const parts = handoffParts({ endpoints: [{ method: 'GET', path: '/a', auth: true }], notes: ['x'] }, before);
  const told = parts
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => [title, ...lines.map(({ text, change }) => `${change} ${text.replaceAll(/\s+/g, ' ')}`)]);
  expect(told).toEqual([
    ['Endpoints', 'added GET /a {"auth":true}', 'gone GET /a'],
    ['Notes', 'added x'],
    ['extras', 'gone { "retries": 2 }'],
  ]);
});

import { expect, test } from 'vitest';
import { GEMINI_AND_CODEX } from '../src/features/cycle/machine.ts';
import { changes, partsOf } from '../web/pages/cycles/handoff-diff.ts';
import { drawMachine, layersOf } from '../web/pages/cycles/layout.ts';

/** As many phases as a repository may have, with a way between any two of the first. */
const MANY = {
  ...GEMINI_AND_CODEX,
  phases: Array.from({ length: 64 }, (_, index) => ({ name: `phase-${index}-${'x'.repeat(20)}`, role: 'codex' })),
  transitions: Array.from({ length: 256 }, (_, index) => ({
    from: `phase-${Math.floor(index / 4)}-${'x'.repeat(20)}`,
    to: `phase-${(index * 7) % 64}-${'x'.repeat(20)}`,
    target: 'codex',
  })),
};

const labelsOf = (machine: { transitions: readonly unknown[] }) => machine.transitions.map((_, index) => `to codex ×${index}`);

test('phases stand one after the other, branches beside each other, and what leads back moves nothing', () => {
  expect(layersOf(GEMINI_AND_CODEX)).toEqual([0, 1, 2, 3]);
  const phases = ['a', 'b', 'c', 'd'].map((name) => ({ name, role: 'codex' }));
  const transitions = [
    { from: 'a', to: 'b' },
    { from: 'a', to: 'c' },
    { from: 'b', to: 'd' },
    { from: 'c', to: 'd' },
    { from: 'd', to: 'a' },
  ];
  expect(layersOf({ ...GEMINI_AND_CODEX, phases, transitions })).toEqual([0, 1, 1, 2]);
});

test.each([
  ['the usual machine across', GEMINI_AND_CODEX, true],
  ['the usual machine downwards', GEMINI_AND_CODEX, false],
  ['the largest machine across', MANY, true],
  ['the largest machine downwards', MANY, false],
])('%s: no box lies on another, and nothing outside the picture', (_, machine, across) => {
  const { boxes, edges, width, height, boxWidth, boxHeight } = drawMachine(machine, labelsOf(machine), across);
  for (const [index, box] of boxes.entries()) {
    expect([box.x >= 0, box.y >= 0, box.x + boxWidth <= width, box.y + boxHeight <= height]).toEqual([true, true, true, true]);
    for (const other of boxes.slice(index + 1)) expect(Math.abs(box.x - other.x) >= boxWidth || Math.abs(box.y - other.y) >= boxHeight).toBe(true);
  }
  expect(edges.length).toBe(machine.transitions.length);
  for (const { path, label } of edges) {
    expect(path).not.toMatch(/NaN|undefined/);
    expect([label.x - label.width / 2 >= 0, label.x + label.width / 2 <= width, label.y >= 0, label.y <= height]).toEqual([true, true, true, true]);
  }
});

test('of two handoffs what is new and what is gone is told, each as often as it stands there', () => {
  expect(changes(['a', 'b', 'b'], ['b', 'c'])).toEqual([
    { text: 'b', change: 'same' },
    { text: 'c', change: 'added' },
    { text: 'a', change: 'gone' },
    { text: 'b', change: 'gone' },
  ]);
  const before = { endpoints: [{ method: 'GET', path: '/a' }], extras: { retries: 2 } };
  const parts = partsOf({ endpoints: [{ method: 'GET', path: '/a', auth: true }], notes: ['x'] }, before);
  const told = parts
    .filter(({ lines }) => lines.length > 0)
    .map(({ title, lines }) => [title, ...lines.map(({ text, change }) => `${change} ${text.replaceAll(/\s+/g, ' ')}`)]);
  expect(told).toEqual([
    ['Endpoints', 'added GET /a {"auth":true}', 'gone GET /a'],
    ['Notes', 'added x'],
    ['extras', 'gone { "retries": 2 }'],
  ]);
});

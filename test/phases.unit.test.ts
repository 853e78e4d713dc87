import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { GEMINI_AND_CODEX } from '../src/features/cycle/machine.ts';
import { layersOf, Phases } from '../web/pages/cycles/phases.tsx';

/** A state machine with the maximum number of phases and transitions. */
const MANY = {
  ...GEMINI_AND_CODEX,
  phases: Array.from({ length: 64 }, (_, index) => ({ name: `phase-${index}-${'x'.repeat(20)}`, role: 'codex' })),
  transitions: Array.from({ length: 256 }, (_, index) => ({
    from: `phase-${Math.floor(index / 4)}-${'x'.repeat(20)}`,
    to: `phase-${(index * 7) % 64}-${'x'.repeat(20)}`,
    target: 'codex',
  })),
};

test('places phases in sequence, branches side by side, and ignores transitions that lead back', () => {
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
  ['the usual machine', GEMINI_AND_CODEX],
  ['the largest machine', MANY],
])('shows each phase and transition of %s once, and the turn of the current phase', (_, machine) => {
  const [first] = machine.phases;
  const html = renderToStaticMarkup(createElement(Phases, { machine, taken: machine.transitions.map((_, index) => index), phase: first?.name ?? null }));
  const [picture = ''] = html.split('<details');
  for (const { name } of machine.phases) expect(picture.split(`>${name}<`).length - 1).toBe(1);
  expect(picture.match(/>[→↩] [^<]+</g)?.length).toBe(machine.transitions.length);
  expect(picture).toContain(`>turn of ${first?.role}<`);
  expect(picture).toMatch(/↩ [^<]+ · rework ×\d/);
  expect(html.match(/<tr>/g)?.length).toBe(machine.transitions.length);
});

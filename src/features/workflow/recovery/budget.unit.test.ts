import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareOut } from './budget.ts';
import { SHARES } from './context.ts';

const wanting = (wants: Record<keyof typeof SHARES, number>) =>
  Object.entries(SHARES).map(([section, share]) => ({ ...share, wants: wants[section as keyof typeof SHARES] }));
const ENDLESS = Number.POSITIVE_INFINITY;

test('if every section is cut, the sections get 15, 55, 20 and 10 percent [contextload.budget.shares]', () => {
  expect(shareOut(10_000, wanting({ workflow: ENDLESS, current: ENDLESS, prior: ENDLESS, related: ENDLESS }))).toEqual([1_500, 5_500, 2_000, 1_000]);
});

test('unused room goes first to the current task, then to the workflow, related tasks, and prior tasks [contextload.budget.unused-passed-on]', () => {
  expect(shareOut(10_000, wanting({ workflow: 100, current: ENDLESS, prior: ENDLESS, related: ENDLESS }))).toEqual([100, 6_900, 2_000, 1_000]);
  expect(shareOut(10_000, wanting({ workflow: ENDLESS, current: 500, prior: ENDLESS, related: ENDLESS }))).toEqual([6_500, 500, 2_000, 1_000]);
  expect(shareOut(10_000, wanting({ workflow: 2_000, current: 500, prior: ENDLESS, related: 3_000 }))).toEqual([2_000, 500, 4_500, 3_000]);
});

test('no demand gets more than it wants, the total fits the room, and no room is unused while a demand is cut', () => {
  const demand = fc.record({ wants: fc.oneof(fc.nat(5_000), fc.constant(ENDLESS)), weight: fc.integer({ min: 1, max: 60 }), turn: fc.nat(9) });
  fc.assert(
    fc.property(fc.integer({ min: -10, max: 20_000 }), fc.array(demand, { minLength: 1, maxLength: 8 }), (room, demands) => {
      const given = shareOut(room, demands);
      const sum = given.reduce((total, each) => total + each, 0);
      for (const [index, { wants }] of demands.entries()) expect(given[index]).toBeLessThanOrEqual(wants);
      const wanted = demands.reduce((total, { wants }) => total + wants, 0);
      expect(sum).toBe(Math.min(Math.max(0, room), wanted));
    }),
  );
});

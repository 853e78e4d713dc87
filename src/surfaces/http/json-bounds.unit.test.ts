import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countJson } from './request.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Object.values(value).reduce<number>((most, inner) => Math.max(most, depthOf(inner)), 0) : 0;
/** Values and containers. */
const valuesOf = (value: unknown): number =>
  1 + (typeof value === 'object' && value !== null ? Object.values(value).reduce<number>((sum, inner) => sum + valuesOf(inner), 0) : 0);

test('JSON within its bounds passes, JSON beyond them does not, whatever its strings hold', () => {
  const strings = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', 'a', 'é') });
  const values = fc.json({ stringUnit: fc.constantFrom('"', '\\', '[', '{', ',', 'a') }).map((text) => JSON.parse(text) as unknown);
  fc.assert(
    fc.property(values, strings, (value, text) => {
      const whole = [value, text];
      const bytes = Buffer.from(JSON.stringify(whole));
      const [depth, nodes] = [depthOf(whole), valuesOf(whole)];
      expect(countJson(bytes, { json_depth: depth, json_nodes: nodes * 2 })).toBeGreaterThanOrEqual(nodes / 2);
      expect(countJson(bytes, { json_depth: depth - 1, json_nodes: nodes * 2 })).toBe('too-deep');
      // An empty container is one value and has no comma, so at least half of them are counted.
      expect(countJson(bytes, { json_depth: depth, json_nodes: Math.floor(nodes / 2) - 1 })).toBe('too-many-nodes');
    }),
    { numRuns: 500, seed: 7 },
  );
});

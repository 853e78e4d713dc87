import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../../../testing/programs/program.ts';
import { CHECKS } from './checks.ts';
import { roomLevel } from './machine.ts';

/** Returns `CODE by check` for every row of the table under "Troubles" in docs/operations.md. */
function documented(): string[] {
  const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const section = page.slice(page.indexOf('\n## Troubles'));
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const inTicks = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word as string);
  return rows.flatMap((row) => {
    const cells = row.split('|').slice(1, -1);
    return inTicks(cells[0]).flatMap((code) => inTicks(cells.at(-1)).map((id) => `${code} by ${id}`));
  });
}

test('docs/operations.md lists exactly the troubles that the checks can report', () => {
  const found = CHECKS.flatMap(({ id, troubles }) => troubles.map((code) => `${code} by ${id}`));
  expect(found.toSorted()).toEqual(documented().toSorted());
  expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
});

test('rates the free space of a disk as enough, little, too little for a copy of the database, or none', () => {
  const MIB = 1024 ** 2;
  expect(roomLevel(5_000 * MIB, 300 * MIB)).toBe('enough');
  expect(roomLevel(900 * MIB, 300 * MIB)).toBe('little');
  expect(roomLevel(5_000 * MIB, 6_000 * MIB)).toBe('no copy');
  expect(roomLevel(10 * MIB, 0)).toBe('none');
});

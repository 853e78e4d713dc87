import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const ledger = JSON.parse(readFileSync(join(root, 'test/requirements.json'), 'utf8')) as { id: string; seed: string; text: string; kind: string }[];
/** Rows that no test cites yet, each with the reason. The list only shrinks. */
const unmet = JSON.parse(readFileSync(join(root, 'test/unmet.json'), 'utf8')) as { reason: string; rows: string[] }[];

const ID = /\[([a-z]+(?:\.[a-z0-9-]+)+)\]/g;

const testFiles = ['src', 'test', 'web'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.test\.tsx?$/.test(path))
    .map((path) => join(root, folder, path)),
);
const areas = new Set(ledger.map(({ id }) => id.split('.')[0]));
/** Bracketed names that start with an area of the ledger: titles, also those that stand in a table of cases. */
const cited = new Set(
  testFiles.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(ID)].map(([, id]) => id as string).filter((id) => areas.has(id.split('.')[0]))),
);

test('the ledger has each row once', () => {
  const ids = ledger.map((row) => row.id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('tests cite rows that the ledger has', () => {
  const known = new Set(ledger.map((row) => row.id));
  expect([...cited].filter((id) => !known.has(id))).toEqual([]);
});

test('each row is cited by a test or listed as unmet with a reason, never both', () => {
  const listed = unmet.flatMap(({ rows }) => rows);
  const known = new Set(ledger.map((row) => row.id));
  expect(listed.filter((id) => !known.has(id))).toEqual([]);
  expect(listed.filter((id) => cited.has(id))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
  const missing = ledger.map((row) => row.id).filter((id) => !cited.has(id) && !listed.includes(id));
  process.stdout.write(`ledger: ${cited.size} of ${ledger.length} rows cited, ${listed.length} not yet\n`);
  expect(missing).toEqual([]);
});

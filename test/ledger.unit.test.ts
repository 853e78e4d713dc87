import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rowsIn, rowsNotRun } from '../scripts/ledger.ts';
import { SQLITE_ONLY } from '../vitest.config.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const ledger = JSON.parse(readFileSync(join(root, 'test/requirements.json'), 'utf8')) as { id: string; seed: string; text: string; kind: string }[];
/** Rows that no test cites yet, each with the reason. The list only shrinks. */
const unmet = JSON.parse(readFileSync(join(root, 'test/unmet.json'), 'utf8')) as { reason: string; rows: string[] }[];

const testFiles = ['src', 'test', 'web'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.test\.tsx?$/.test(path))
    .map((path) => join(root, folder, path)),
);
const areas = new Set(ledger.map(({ id }) => id.split('.')[0]));
/** Bracketed names that start with an area of the ledger: titles, also those that stand in a table of cases. */
const cited = new Set(testFiles.flatMap((path) => rowsIn(readFileSync(path, 'utf8')).filter((id) => areas.has(id.split('.')[0]))));

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

test('a row that only a skipped test cites has not been tested, and is told apart from one that no test cites', () => {
  const assertionResults = [
    { title: '', fullName: 'one [a.b]', status: 'passed' },
    { title: '', fullName: 'two [a.c]', status: 'skipped' },
    { title: '', fullName: 'on one engine [a.d]', status: 'skipped' },
    { title: '', fullName: 'on the other [a.d]', status: 'passed' },
    { title: '', fullName: 'not reached [a.g]', status: 'pending' },
    { title: '', fullName: 'not written [a.h]', status: 'todo' },
    { title: '', fullName: 'broken [a.i]', status: 'failed' },
  ];
  const report = { success: true, numPassedTests: 2, numFailedTests: 1, testResults: [{ assertionResults }] };
  const rows = ['a.b', 'a.c', 'a.d', 'a.e', 'a.f', 'a.g', 'a.h', 'a.i'].map((id) => ({ id }));
  expect(rowsNotRun(report, rows, [{ rows: ['a.f'] }])).toEqual({ skipped: ['a.c', 'a.g', 'a.h'], absent: ['a.e'] });
});

test('what runs on SQLite alone in npm test is there, so that npm run prove finds it', () => {
  expect(SQLITE_ONLY.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

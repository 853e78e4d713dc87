import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { needsTmux, rowsIn, rowsNotRun } from '../scripts/ledger.ts';
import { SQLITE_ONLY } from '../vitest.config.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const ledger = JSON.parse(readFileSync(join(root, 'test/requirements.json'), 'utf8')) as { id: string; seed: string; text: string; kind: string }[];
/** The rows that no test cites yet, each with the reason. Rows may only be removed from this list. */
const unmet = JSON.parse(readFileSync(join(root, 'test/unmet.json'), 'utf8')) as { reason: string; rows: string[] }[];

const testFiles = ['src', 'test', 'web'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.test\.tsx?$/.test(path))
    .map((path) => join(root, folder, path)),
);
const areas = new Set(ledger.map(({ id }) => id.split('.')[0]));
/** All names in brackets that begin with an area of the ledger. They are in test titles and in tables of cases. */
const cited = new Set(testFiles.flatMap((path) => rowsIn(readFileSync(path, 'utf8')).filter((id) => areas.has(id.split('.')[0]))));

test('the ledger has each row once', () => {
  const ids = ledger.map((row) => row.id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('tests cite only rows of the ledger', () => {
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

test('a row that only a skipped test cites counts as not tested, and is excused only if the file may skip tests', () => {
  const tests = (...list: [title: string, status: string][]) => list.map(([fullName, status]) => ({ fullName, status }));
  const report = {
    success: true,
    numPassedTests: 2,
    numFailedTests: 1,
    testResults: [
      { name: 'one', assertionResults: tests(['one [a.b]', 'passed'], ['two [a.c]', 'skipped'], ['on one engine [a.d]', 'skipped']) },
      { name: 'two', assertionResults: tests(['on the other [a.d]', 'passed'], ['not reached [a.g]', 'pending'], ['not written [a.h]', 'todo']) },
      { name: 'tmux', assertionResults: tests(['broken [a.i]', 'failed'], ['in a session [a.j]', 'skipped'], ['no more [a.b]', 'skipped']) },
    ],
  };
  const rows = ['a.b', 'a.c', 'a.d', 'a.e', 'a.f', 'a.g', 'a.h', 'a.i', 'a.j'].map((id) => ({ id }));
  const missing = ['a.c', 'a.e', 'a.g', 'a.h'];
  expect(rowsNotRun(report, rows, [{ rows: ['a.f'] }], (file) => file === 'tmux')).toEqual({ excused: ['a.j'], missing });
  expect(rowsNotRun(report, rows, [{ rows: ['a.f'] }], () => false)).toEqual({ excused: [], missing: [...missing, 'a.j'] });
});

test('files whose tests need tmux are recognized by their check for tmux', () => {
  const found = testFiles.filter((path) => needsTmux(readFileSync(path, 'utf8')));
  const asking = testFiles.filter((path) => /\btmuxVersion\(\)\) !== null|spawnSync\('tmux', \['-V'\]\)\.status/.test(readFileSync(path, 'utf8')));
  expect(found.length).toBeGreaterThan(3);
  expect(found.toSorted()).toEqual(asking.toSorted());
});

test('every test that npm test runs only on SQLite exists, so that npm run prove finds it', () => {
  expect(SQLITE_ONLY.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

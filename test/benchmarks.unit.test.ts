import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AREAS } from '../bench/areas.ts';
import { gatherer } from '../bench/benchmark.ts';
import { documentOf, growthSection } from '../bench/report.ts';
import { mergeResults, type Results, type Row, readResults } from '../bench/results.ts';
import { tableOf } from '../bench/table.ts';

const machine = { cpu: 'Abacus', cores: 2, memoryGb: 8, os: 'Linux 6', node: 'v24.0.0', sqlite: '3.50.0', postgres: '18.0', syncMs: 1.5 };
const run = { at: '2026-01-02T03:04:05.000Z', seconds: 60 };

/** Returns results for two areas, with a rate, a time with a note, and a peer that could not be installed. */
function fixed(): Results {
  const rows: Row[] = [];
  const silent = { step: () => {}, detail: () => {} };
  const gateway = gatherer('gateway', rows, silent);
  gateway.rate('through us', { perSecond: 1500, p50: 0.5, p99: 2.25 }, { name: 'directly', rate: { perSecond: 3000, p50: 0.25, p99: 1 } });
  gateway.rate('through us once more', { perSecond: 1500, p50: 0.5, p99: 2.25 }, { name: 'peer 1.0.0', error: 'no such package | at all' });
  gatherer('events', rows, silent).figure({ name: 'a page', value: 0.03, unit: 'ms', baseline: { name: 'a query', value: 8, unit: 'ms' }, note: 'of 200' });
  return { machine, runs: { gateway: run, events: run }, rows };
}

test('shows the baseline of each figure, and the ratio between the two', () => {
  const { rows } = fixed();
  expect(rows.map(({ ratio }) => ratio)).toEqual([0.5, undefined, 0.00375]);
  expect(rows[0]).toEqual({
    area: 'gateway',
    name: 'through us',
    value: 1500,
    unit: '/s',
    p50: 0.5,
    p99: 2.25,
    baseline: { name: 'directly', value: 3000, unit: '/s' },
    ratio: 0.5,
  });
});

test('writes the machine, every area with its method, and one line per figure to the document', () => {
  const text = documentOf(fixed(), 'It grows.');
  expect(text).toContain('Abacus, 2 cores, 8 GB; Linux 6; Node v24.0.0, SQLite 3.50.0, PostgreSQL 18.0. Its disk takes 1.5 ms (median) to sync 4 kB.');
  for (const { title, method } of AREAS) expect(text).toContain(`## ${title}\n\n${method}`);
  expect(text).toContain('| through us | 1,500/s | 0.5 / 2.25 | directly | 3,000/s | 0.5 |');
  expect(text).toContain('| a page (of 200) | 0.03 ms | a query | 8 ms | 0.0038 |');
  expect(text).toContain('## Growth\n\nIt grows.\n');
  expect(text.match(/Not measured yet\./g)).toHaveLength(AREAS.length - 2);
});

test('shows in the document and in the table which peer could not run, with the reason', () => {
  expect(documentOf(fixed(), 'It grows.')).toContain('| peer 1.0.0 | could not run: no such package \\| at all | – |');
  expect(tableOf(fixed().rows)).toMatch(/peer 1\.0\.0 +could not run: no such package \| at all +–/);
});

test('prints one part per area and aligns the columns', () => {
  const lines = tableOf(fixed().rows).trim().split('\n');
  expect(lines.filter((line) => line.startsWith('# '))).toEqual(['# gateway', '# events']);
  const [first = '', second = ''] = lines.filter((line) => line.startsWith('through us'));
  expect(first.indexOf('directly')).toBe(second.indexOf('peer 1.0.0'));
});

test('replaces only the areas that ran, and drops results of another machine', () => {
  const old = fixed();
  const rows = old.rows.slice(2).map((row) => ({ ...row, value: 16, ratio: 2 }));
  const again: Results = { machine: { ...machine, syncMs: 9 }, runs: { events: { ...run, seconds: 1 } }, rows };
  const both = mergeResults(old, again);
  expect(both.rows).toEqual([...old.rows.slice(0, 2), ...rows]);
  expect(both.runs).toEqual({ gateway: run, events: { ...run, seconds: 1 } });
  const elsewhere: Results = { ...again, machine: { ...machine, cores: 64 } };
  expect(mergeResults(old, elsewhere)).toEqual(elsewhere);
});

test('docs/benchmarks.md matches the stored results', () => {
  const results = readResults();
  expect(results && documentOf(results, growthSection())).toBe(readFileSync(new URL('../docs/benchmarks.md', import.meta.url), 'utf8'));
});

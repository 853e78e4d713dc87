import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const text = readFileSync('SECURITY.md', 'utf8');

/** SECURITY.md cites a test in a nested list item under the promise that the test proves: `file` › first words of the title. */
const CITED = /^ {2}- `([^`]+\.test\.ts)` › (.+)$/gm;

test('every test that the threat model cites exists', () => {
  const cited = [...text.matchAll(CITED)];
  expect(cited.length).toBeGreaterThan(130);
  expect(cited).toHaveLength([...text.matchAll(/ › /g)].length);
  const missing = cited.flatMap(([, file = '', title = '']) => {
    const source = existsSync(file) ? readFileSync(file, 'utf8').replaceAll("\\'", "'") : '';
    return source.includes(title) ? [] : [`${file} › ${title}`];
  });
  expect(missing).toEqual([]);
});

test('the threat model makes promises about every kind of attacker, and cites a test for every promise', () => {
  const sections = text.split(/^## (?=\d )/m).slice(1);
  expect(sections).toHaveLength(8);
  for (const section of sections) {
    const promises = (section.split('\n## ')[0] ?? '').split(/^- (?=\*\*)/m).slice(1);
    expect(promises.length).toBeGreaterThan(2);
    expect(promises.filter((promise) => !promise.includes(' › '))).toEqual([]);
  }
});

import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const text = readFileSync('SECURITY.md', 'utf8');

/** `file` › beginning of a title, separated by semicolons, in the last cell of each line. */
const CITED = /`([^`]+\.test\.ts)` › (.+)/;
const promises = text
  .split('\n')
  .filter((line) => line.startsWith('|') && line.includes(' › '))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('every promise of the threat model names an existing test', () => {
  const missing = promises.flatMap(([, threat, , shown = '']) =>
    shown.split('; ').flatMap((cited) => {
      const [, file = '', title = ''] = CITED.exec(cited) ?? [];
      const source = existsSync(file) ? readFileSync(file, 'utf8').replaceAll("\\'", "'") : '';
      return title !== '' && source.includes(title) ? [] : [`${threat}: ${cited}`];
    }),
  );
  expect(missing).toEqual([]);
});

test('every boundary has promises, and every line of its table a test', () => {
  const sections = text.split(/^## (?=\d )/m).slice(1);
  expect(sections).toHaveLength(8);
  for (const section of sections) {
    const lines =
      section
        .split('\n## ')[0]
        ?.split('\n')
        .filter((line) => line.startsWith('| ') && !line.startsWith('| threat') && !line.startsWith('| ---')) ?? [];
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => !CITED.test(line))).toEqual([]);
  }
});

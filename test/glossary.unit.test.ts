import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const GLOSSARY = readFileSync(fileURLToPath(new URL('../GLOSSARY.md', import.meta.url)), 'utf8');

test('the glossary has exactly one entry for each word', () => {
  const words = [...GLOSSARY.matchAll(/^\| (\*\*[^|]+)/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/\*\*([^*]+)\*\*/g)].map(([, word]) => word));
  expect(words.length).toBeGreaterThan(50);
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
});

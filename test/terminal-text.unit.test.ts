import { expect, test } from 'vitest';
import { asText, onlyColours, painted } from '../web/pages/reviews/terminal-text.ts';

const ESC = '\u001b';

test('keeps only text and colours of program output: no title, clipboard, query, cursor or bell sequences', () => {
  const log = `${ESC}]0;title\u0007a${ESC}]52;c;aGk=${ESC}\\b${ESC}[6n${ESC}[2J${ESC}[10;3Hc${ESC}[1;31mred${ESC}[0m${ESC}c${ESC}Pq\u0007d\u0007\r\n${ESC}]8;;x`;
  expect(onlyColours(log)).toBe(`abc${ESC}[1;31mred${ESC}[0md\n`);
  expect(asText(`${log}${' '.repeat(9)}\n\n`)).toBe('abcredd');
});

test('paints a whole screen with its cursor position', () => {
  expect(painted({ text: 'a\nb\n', cursor: { column: 2, row: 1 } })).toBe(`${ESC}[0m${ESC}[3J${ESC}[2J${ESC}[Ha\r\nb${ESC}[0m${ESC}[2;3H${ESC}[?25h`);
  expect(painted({ text: '', cursor: null })).toContain(`${ESC}[?25l`);
});

import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createOutput, table } from './output.ts';

const HOSTILE = 'x\u001b[2J\u009b31m\u202Ey\u200b\r\u0007';
const ESCAPED = 'x\\u001b[2J\\u009b31m\\u202ey\\u200b\\u000d\\u0007';

function printer(isTTY: boolean) {
  const streams = [new PassThrough(), new PassThrough()].map((stream) => Object.assign(stream, { isTTY }) as unknown as NodeJS.WriteStream);
  const [stdout, stderr] = streams as [NodeJS.WriteStream, NodeJS.WriteStream];
  return {
    out: createOutput({ LANG: 'C.UTF-8' }, stdout, stderr),
    read: () => [stdout, stderr].map((stream) => String((stream as unknown as PassThrough).read() ?? '')),
  };
}

test('results and notes escape whatever would steer a terminal; line ends and tabs stay [harden.terminal.output]', () => {
  for (const isTTY of [true, false]) {
    const { out, read } = printer(isTTY);
    out.result(`one\n\t${HOSTILE}`);
    out.note(HOSTILE);
    expect(read()).toEqual([`one\n\t${ESCAPED}\n`, `${ESCAPED}\n`]);
  }
});

test('on a terminal our own marks keep their colour, beside text that gets none', () => {
  const { out, read } = printer(true);
  out.note(`${out.mark.bad} ${HOSTILE} ${out.tone.you}\u001b[35m`);
  expect(out.mark.bad).toBe('\u001b[31m✗\u001b[0m');
  expect(read()[1]).toBe(`${out.mark.bad} ${ESCAPED} ${out.tone.you}\\u001b[35m\n`);
});

test('no cell of a table begins a line or steers the terminal, and columns stay aligned [harden.terminal.output]', () => {
  expect(
    table({ head: ['A', 'B'] }, [
      ['one\n9  forged', HOSTILE],
      ['x', 'y'],
    ]).split('\n'),
  ).toEqual(['A                   B', `one\\u000a9  forged  ${ESCAPED}`, 'x                   y']);
});

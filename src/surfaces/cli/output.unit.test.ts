import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { columnsOf } from './columns.ts';
import { createOutput, type TableShape, table } from './output.ts';

const HOSTILE = 'x\u001b[2J\u009b31m\u202Ey\u200b\r\u0007';
const ESCAPED = 'x\\u001b[2J\\u009b31m\\u202ey\\u200b\\u000d\\u0007';

function printer(isTTY: boolean, { errTTY = isTTY, env = {}, noColor = false }: { errTTY?: boolean; env?: NodeJS.ProcessEnv; noColor?: boolean } = {}) {
  const streams = [isTTY, errTTY].map((is) => Object.assign(new PassThrough(), { isTTY: is, columns: 72 }) as unknown as NodeJS.WriteStream);
  const [stdout, stderr] = streams as [NodeJS.WriteStream, NodeJS.WriteStream];
  return {
    out: createOutput({ LANG: 'C.UTF-8', ...env }, stdout, stderr, { noColor }),
    read: () => [stdout, stderr].map((stream) => String((stream as unknown as PassThrough).read() ?? '')),
  };
}

test('escapes control characters in results and notes, and keeps line ends and tabs [harden.terminal.output]', () => {
  for (const isTTY of [true, false]) {
    const { out, read } = printer(isTTY);
    out.result(`one\n\t${HOSTILE}`);
    out.note(HOSTILE);
    expect(read()).toEqual([`one\n\t${ESCAPED}\n`, `${ESCAPED}\n`]);
  }
});

test('on a terminal, colours our own marks and no other text', () => {
  const { out, read } = printer(true);
  out.note(`${out.mark.bad} ${HOSTILE} ${out.tone.you}\u001b[35m`);
  expect(out.mark.bad).toBe('\u001b[31m✗\u001b[0m');
  expect(read()[1]).toBe(`${out.mark.bad} ${ESCAPED} ${out.tone.you}\\u001b[35m\n`);
});

test('escapes line breaks and control characters in the cells of a table, and keeps columns aligned [harden.terminal.output]', () => {
  expect(
    table({ head: ['A', 'B'] }, [
      ['one\n9  forged', HOSTILE],
      ['x', 'y'],
    ]).split('\n'),
  ).toEqual(['A                   B', `one\\u000a9  forged  ${ESCAPED}`, 'x                   y']);
});

test('writes colour only to a terminal, and never with NO_COLOR or --no-color [use.cli.colour]', () => {
  const painted = (...place: Parameters<typeof printer>) => {
    const { out, read } = printer(...place);
    out.result(`${out.mark.good} result`);
    out.note(`${out.mark.bad} note ${out.tone.you}`);
    return read().map((text) => text.includes('\u001b['));
  };
  expect(painted(true)).toEqual([true, true]);
  expect(painted(false)).toEqual([false, false]);
  expect(painted(true, { errTTY: false })).toEqual([true, false]);
  expect(painted(false, { errTTY: true })).toEqual([false, true]);
  for (const env of [{ NO_COLOR: '1' }, { NO_COLOR: '' }, { TERM: 'dumb' }]) expect(painted(true, { env })).toEqual([false, false]);
  expect(painted(true, { noColor: true })).toEqual([false, false]);
});

const SHAPE: TableShape = {
  head: ['ID', 'NAME', 'OWNER', 'SEEN'],
  narrow: [
    ['NAME', 10],
    ['SEEN', 0],
    ['OWNER', 4],
  ],
};
const ROWS = [['task_1', '表'.repeat(20), 'ana@example', '3 m']];

test('shortens and drops the columns of a table in the given order until it fits the terminal [use.cli.table-width]', () => {
  const row = (columns?: number) => table(SHAPE, ROWS, columns).split('\n')[1];
  expect(row()).toBe(`task_1  ${'表'.repeat(20)}  ana@example  3 m`);
  expect(row(40)).toBe('task_1  表表表表表表…  ana@example  3 m');
  expect(row(34)).toBe('task_1  表表表表…   ana@example');
  expect(row(22)).toBe('task_1  表表表表…   a…');
  for (let columns = 5; columns <= 80; columns++)
    for (const line of table(SHAPE, ROWS, columns).split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
  expect([printer(true).out.columns, printer(false).out.columns]).toEqual([72, Number.POSITIVE_INFINITY]);
});

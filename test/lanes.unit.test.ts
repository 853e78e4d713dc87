import { expect, test } from 'vitest';
import { commandIn, passOf } from '../web/pages/team/passes.ts';
import { axisWords, hoursBetween, rowsOf } from '../web/parts/time-axis.ts';

const HOUR = 3_600_000;

test('bars that overlap stand on lines of their own, and a line is used again once it is free', () => {
  const bar = (from: number, until: number) => ({ from, until });
  expect(rowsOf([bar(0, 10), bar(5, 20), bar(10, 15), bar(12, 50), bar(30, 40)])).toEqual([0, 1, 0, 2, 0]);
});

test('a lane is never higher than a few lines: the rest shares the last', () => {
  const many = rowsOf(
    Array.from({ length: 50 }, (_, index) => ({ from: index, until: 100 })),
    6,
  );
  expect(Math.max(...many)).toBe(5);
});

test('twelve hours are marked every two, at full hours within them', () => {
  const marks = hoursBetween(0.5 * HOUR, 12.5 * HOUR);
  expect(marks).toEqual([1, 3, 5, 7, 9, 11].map((hour) => hour * HOUR));
});

test('a refusal leads to where it can be made to pass, and its command is the one that it names', () => {
  expect(passOf({ code: 'VERDICT_REQUIRED', warning_id: 'warn_1', edit: null }, null)?.path).toBe('/tasks/overlaps?warning=warn_1');
  expect(passOf({ code: 'REVIEW_LIMIT_EXCEEDED', warning_id: null, edit: null }, 'work-7-a1')?.path).toBe('/reviews/work-7-a1');
  expect(passOf({ code: 'REVIEW_LIMIT_EXCEEDED', warning_id: null, edit: null }, null)).toBeUndefined();
  const edit = { path: 'src/a.ts', claim_id: 'clm_1', client: 'codex', tool: 'apply_patch' };
  expect(passOf({ code: null, warning_id: null, edit }, null)?.path).toBe('/tasks/claims?claim=clm_1');
  expect(passOf({ code: 'TASK_NOT_FOUND', warning_id: null, edit: null }, null)).toBeUndefined();
  expect(commandIn('Ask the operator to run: covenant capabilities grant tool.call.echo --token tok_1')).toBe(
    'covenant capabilities grant tool.call.echo --token tok_1',
  );
  expect(commandIn('Call with a token made by `covenant tokens create --developer NAME`.')).toBe('covenant tokens create --developer NAME');
  expect(commandIn('Judge every candidate.')).toBeUndefined();
  expect(commandIn(null)).toBeUndefined();
});

test('the marks of a chart are times of 24 hours, in UTC where that was chosen; days where a bar stands for one', () => {
  const evening = Date.UTC(2026, 0, 2, 18, 5);
  expect(axisWords([evening, evening + 60_000], true)(evening)).toBe('18:05');
  expect(axisWords([evening, evening + 60_000], false)(evening)).toMatch(/^\d\d:\d\d$/);
  expect(axisWords([evening, evening + 86_400_000], true)(evening)).toMatch(/Jan/);
});

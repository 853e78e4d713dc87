import { expect, test } from 'vitest';
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

test('the marks of a chart are times of 24 hours, in UTC where that was chosen; days where a bar stands for one', () => {
  const evening = Date.UTC(2026, 0, 2, 18, 5);
  expect(axisWords([evening, evening + 60_000], true)(evening)).toBe('18:05');
  expect(axisWords([evening, evening + 60_000], false)(evening)).toMatch(/^\d\d:\d\d$/);
  expect(axisWords([evening, evening + 86_400_000], true)(evening)).toMatch(/Jan/);
});

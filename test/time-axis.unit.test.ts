import { expect, test } from 'vitest';
import { axisWords, clockFor, hoursBetween, placeOf, rowsOf, stretchesOf, ticksOf } from '../web/parts/time-axis.ts';

const HOUR = 3_600_000;

test('puts overlapping bars on separate lines and reuses free lines', () => {
  const bar = (from: number, until: number) => ({ from, until });
  expect(rowsOf([bar(0, 10), bar(5, 20), bar(10, 15), bar(12, 50), bar(30, 40)])).toEqual([0, 1, 0, 2, 0]);
});

test('limits a lane to a few lines, and puts the rest on the last one', () => {
  const many = rowsOf(
    Array.from({ length: 50 }, (_, index) => ({ from: index, until: 100 })),
    6,
  );
  expect(Math.max(...many)).toBe(5);
});

test('marks every second full hour of twelve hours', () => {
  const marks = hoursBetween(0.5 * HOUR, 12.5 * HOUR);
  expect(marks).toEqual([1, 3, 5, 7, 9, 11].map((hour) => hour * HOUR));
});

test('marks charts with 24-hour times, in UTC if preferred, and with days if a bar is a day', () => {
  const evening = Date.UTC(2026, 0, 2, 18, 5);
  expect(axisWords([evening, evening + 60_000], true)(evening)).toBe('18:05');
  expect(axisWords([evening, evening + 60_000], false)(evening)).toMatch(/^\d\d:\d\d$/);
  expect(axisWords([evening, evening + 86_400_000], true)(evening)).toMatch(/Jan/);
});

test('draws long idle times as narrow gaps, or in full if the person wants that', () => {
  const work = [
    { from: 0, until: HOUR },
    { from: 0.5 * HOUR, until: HOUR },
    { from: 10 * HOUR, until: 11 * HOUR },
  ];
  const folded = stretchesOf(work, true);
  expect(folded.map(({ idle, folded: isFolded }) => [idle, isFolded])).toEqual([
    [false, false],
    [true, true],
    [false, false],
  ]);
  expect(placeOf(folded, 10.5 * HOUR)).toBeCloseTo(0.76, 2);
  expect(placeOf(folded, 11 * HOUR)).toBeCloseTo(1, 5);
  expect(placeOf(stretchesOf(work, false), 5.5 * HOUR)).toBeCloseTo(0.5, 5);
  // A pause of a few minutes is not folded.
  expect(
    stretchesOf(
      [
        { from: 0, until: HOUR },
        { from: HOUR + 60_000, until: 2 * HOUR },
      ],
      true,
    ),
  ).toHaveLength(1);
});

test('puts overlapping spans on separate rows and keeps axis marks apart', () => {
  expect(
    rowsOf([
      { from: 0, until: 5 },
      { from: 2, until: 4 },
      { from: 4, until: 6 },
      { from: 5, until: 7 },
    ]),
  ).toEqual([0, 1, 1, 0]);
  const many = Array.from({ length: 30 }, (_, at) => ({ from: at * HOUR, until: at * HOUR + 60_000 }));
  const stretches = stretchesOf(many, true);
  const places = ticksOf(stretches, 6).map((time) => placeOf(stretches, time));
  expect(places.every((place, at) => at === 0 || place - (places[at - 1] as number) >= 0.139)).toBe(true);
});

test('shows seconds on the axis only if the axis covers a short time', () => {
  const noon = Date.UTC(2026, 0, 1, 12);
  const written = (...minutes: number[]) => {
    const ticks = minutes.map((minute) => noon + minute * 60_000);
    const clock = clockFor(ticks, 'UTC');
    return ticks.map((tick) => clock.format(tick));
  };
  expect(written(0, 0.25, 0.5)).toEqual(['12:00:00', '12:00:15', '12:00:30']);
  expect(written(0, 30, 60)).toEqual(['12:00', '12:30', '13:00']);
});

import { expect, test } from 'vitest';
import { firstView, NODE, placedNodes } from '../web/pages/workflows/graph-layout.ts';
import { statusNotes } from '../web/pages/workflows/status.ts';
import { clockFor, placeOf, rowsOf, stretchesOf, ticksOf } from '../web/parts/time-axis.ts';

const HOUR = 3_600_000;

test('a long idle time is folded to a sliver, keeps its place, and is drawn in full when asked for', () => {
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
  // A pause of minutes is no gap.
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

test('what overlaps stands in rows of its own, and marks of the axis stand apart', () => {
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

const node = (id: string, layer: number, row: number, status = 'pending') => ({
  id,
  name: id,
  layer,
  row,
  critical: false,
  key: null,
  group: null,
  task: { status: status as 'pending', sequence: 1, agent_name: null, asks: false },
  counts: null,
});

test('layers stand from left to right, a tall one in several columns, and no two nodes over each other', () => {
  const placed = placedNodes([...Array.from({ length: 45 }, (_, row) => node(`a${row}`, 0, row)), node('b', 1, 0)]);
  expect(new Set(placed.map(({ x, y }) => `${x} ${y}`)).size).toBe(46);
  const last = placed.find(({ node: { id } }) => id === 'b');
  expect(placed.every(({ x, node: { id } }) => id === 'b' || x + NODE.width < (last?.x ?? 0))).toBe(true);
});

test('a graph that fits is seen whole; of a larger one what failed or runs', () => {
  const size = { width: 1_000, height: 600 };
  expect(firstView(placedNodes([node('a', 0, 0), node('b', 1, 0)]), size)).toMatchObject({ zoom: 1 });
  const long = placedNodes(Array.from({ length: 100 }, (_, at) => node(`t${at}`, at, 0, at === 60 ? 'failed' : 'pending')));
  const { x, zoom } = firstView(long, size);
  const failed = (long[60]?.x ?? 0) * zoom + x;
  expect(zoom).toBe(0.6);
  expect(failed).toBeGreaterThan(0);
  expect(failed).toBeLessThan(size.width);
});

type Shown = Parameters<typeof statusNotes>[0];

test('a workflow says why it stands, and that a person is asked before all else', () => {
  const words = (status: string, next: object, more: { paused?: number; all_complete?: boolean; asking?: number } = {}) =>
    statusNotes({
      workflow: { status, status_reason: null },
      progress: { by_status: { paused: more.paused ?? 0 }, all_complete: more.all_complete ?? false },
      next: { available: 0, claimed: 0, max_parallel: 2, ...next },
      claims: Array.from({ length: more.asking ?? 0 }, () => ({ question_id: 'msg_1' })),
    } as unknown as Shown).map((each) => each.words);
  expect(words('in_progress', { available: 3, claimed: 1 })).toEqual([]);
  expect(words('in_progress', { available: 1 })).toEqual(['Nobody works on it: 1 task could be taken up.']);
  expect(words('in_progress', { available: 3, claimed: 2 })).toEqual(['3 tasks could be taken up, but 2 are claimed, and at most 2 may be at once.']);
  expect(words('in_progress', {}, { paused: 1 })).toEqual(['Nobody works on it: 1 task is paused, and all others wait for those.']);
  expect(words('in_progress', {}, { all_complete: true })).toEqual(['Every task is done. Complete it, or let an agent plan more.']);
  expect(words('paused', { claimed: 1 }, { asking: 2 })).toEqual([
    '2 tasks wait for an answer of yours.',
    'Paused: no further task is taken up until it is resumed.',
  ]);
});

test('the marks of a short time tell its seconds, those of a long one do not', () => {
  const noon = Date.UTC(2026, 0, 1, 12);
  const written = (...minutes: number[]) => {
    const ticks = minutes.map((minute) => noon + minute * 60_000);
    const clock = clockFor(ticks, 'UTC');
    return ticks.map((tick) => clock.format(tick));
  };
  expect(written(0, 0.25, 0.5)).toEqual(['12:00:00', '12:00:15', '12:00:30']);
  expect(written(0, 30, 60)).toEqual(['12:00', '12:30', '13:00']);
});

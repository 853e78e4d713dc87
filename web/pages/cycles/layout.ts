import type { ShownCycle } from '../../api.ts';

type Machine = ShownCycle['machine'];

export interface Box {
  readonly name: string;
  readonly role: string;
  readonly x: number;
  readonly y: number;
}

export interface TransitionEdge {
  /** Which transition of the machine it is. */
  readonly index: number;
  readonly path: string;
  readonly label: { readonly x: number; readonly y: number; readonly width: number };
  /** Work that is done again. */
  readonly back: boolean;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly boxWidth: number;
  readonly boxHeight: number;
  readonly boxes: readonly Box[];
  readonly edges: readonly TransitionEdge[];
}

const BOX_HEIGHT = 48;
const LETTER = 7.3;
const SMALL_LETTER = 6.4;
const MARGIN = 6;
const BESIDE = 24;
const LANE = 30;
/** How far from a box a way runs that goes around others. */
const AROUND = 14;

/** A point by how far along the phases it lies, and how far beside them. */
type Point = readonly [along: number, beside: number];

/** Where each phase stands: one further than the last of those that lead to it. The phases are in the order in which they are gone through. */
export function layersOf({ phases, transitions }: Machine): number[] {
  const place = new Map(phases.map(({ name }, index) => [name, index]));
  const layers: number[] = [];
  phases.forEach(({ name }, index) => {
    const before = transitions.filter(({ from, to }) => to === name && (place.get(from) ?? index) < index).map(({ from }) => layers[place.get(from) ?? 0] ?? 0);
    layers.push(before.length > 0 ? Math.max(...before) + 1 : index === 0 ? 0 : (layers[index - 1] ?? 0) + 1);
  });
  return layers;
}

/** Layers of phases, across or downwards. What leads back runs beside them on one side, what leaves phases out on the other. */
export function drawMachine(machine: Machine, labels: readonly string[], across: boolean): Drawing {
  const layers = layersOf(machine);
  const boxWidth = Math.max(112, ...machine.phases.map(({ name, role }) => 24 + Math.max(name.length * LETTER, (role.length + 8) * SMALL_LETTER)));
  const labelWidths = labels.map((label) => label.length * SMALL_LETTER + 10);
  const [length, breadth] = across ? [boxWidth, BOX_HEIGHT] : [BOX_HEIGHT, boxWidth];
  const gap = across ? Math.max(64, ...labelWidths.map((width) => width + 24)) : 56;
  const rows = layers.map((layer, index) => layers.slice(0, index).filter((other) => other === layer).length);
  const breadthOf = (layer: number) => layers.filter((other) => other === layer).length * (breadth + BESIDE) - BESIDE;
  const widest = Math.max(...layers.map(breadthOf));

  const place = new Map(machine.phases.map(({ name }, index) => [name, index]));
  const ways = machine.transitions.map(({ from, to }, index) => {
    const [start, end] = [place.get(from) ?? 0, place.get(to) ?? 0];
    const [first, last] = [layers[start] ?? 0, layers[end] ?? 0];
    return { index, start, end, back: end <= start, skips: end > start && last - first > 1, from: Math.min(first, last), until: Math.max(first, last) };
  });
  const behind = lanesOf(ways.filter(({ back }) => back));
  const before = lanesOf(ways.filter(({ skips }) => skips));
  const widestOf = (lanes: ReadonlyMap<number, number>) => Math.max(0, ...[...lanes.keys()].map((index) => labelWidths[index] ?? 0));
  const room = (lanes: ReadonlyMap<number, number>) => (lanes.size === 0 ? 0 : (Math.max(...lanes.values()) + 1) * LANE + (across ? 10 : widestOf(lanes)));

  const top = MARGIN + room(before);
  const alongOf = (index: number) => MARGIN + (layers[index] ?? 0) * (length + gap);
  const besideOf = (index: number) => top + (widest - breadthOf(layers[index] ?? 0)) / 2 + (rows[index] ?? 0) * (breadth + BESIDE);
  const at = ([along, beside]: Point): readonly [number, number] => (across ? [along, beside] : [beside, along]);
  const leaving = new Map<number, number>();
  const slot = (index: number): number => {
    const taken = leaving.get(index) ?? 0;
    leaving.set(index, taken + 1);
    return Math.min(length / 2 - 8, 10 + taken * 10);
  };

  const edges = ways.map(({ index, start, end, back, skips }): TransitionEdge => {
    const centre = (box: number): Point => [alongOf(box) + length / 2, besideOf(box) + breadth / 2];
    if (!back && !skips) {
      const [from, to]: [Point, Point] = [
        [alongOf(start) + length, centre(start)[1]],
        [alongOf(end), centre(end)[1]],
      ];
      const middle = (from[0] + to[0]) / 2;
      const path = `M${at(from)} C${at([middle, from[1]])} ${at([middle, to[1]])} ${at(to)}`;
      return { index, back, path, label: labelAt(at([middle, (from[1] + to[1]) / 2]), index) };
    }
    const lane = back ? top + widest + ((behind.get(index) ?? 0) + 1) * LANE - 6 : top - ((before.get(index) ?? 0) + 1) * LANE + 6;
    const edge = (box: number) => besideOf(box) + (back ? breadth : 0);
    const isOuter = (box: number) => !layers.some((layer, other) => layer === layers[box] && (back ? other > box : other < box));
    // What stands between a box and the lane is gone around, in the gap before or behind its layer.
    const inside = (box: number) => besideOf(box) + breadth * (back ? 0.8 : 0.2);
    const turns = back && start !== end ? -1 : 1;
    const [out, into] = [centre(start)[0] + turns * slot(start), centre(end)[0] - turns * slot(end)];
    const [aside, ahead] = [alongOf(start) + length + AROUND, alongOf(end) - AROUND];
    const leave: Point[] = isOuter(start)
      ? [
          [out, edge(start)],
          [out, lane],
        ]
      : [
          [alongOf(start) + length, inside(start)],
          [aside, inside(start)],
          [aside, lane],
        ];
    const arrive: Point[] = isOuter(end)
      ? [
          [into, lane],
          [into, edge(end)],
        ]
      : [
          [ahead, lane],
          [ahead, inside(end)],
          [alongOf(end), inside(end)],
        ];
    const middle = ((leave.at(-1)?.[0] ?? 0) + (arrive[0]?.[0] ?? 0)) / 2;
    const [x, y] = at([middle, lane]);
    // Downwards it stands beside its line, or it would lie on the one between the boxes.
    const shift = across ? 0 : (back ? 1 : -1) * Math.max(0, (labelWidths[index] ?? 0) / 2 - 8);
    return { index, back, path: rounded([...leave, ...arrive].map(at)), label: labelAt([x + shift, y], index) };
  });
  function labelAt([x, y]: readonly [number, number], index: number) {
    return { x, y, width: labelWidths[index] ?? 0 };
  }

  const total: Point = [MARGIN * 2 + (Math.max(...layers) + 1) * (length + gap) - gap, top + widest + room(behind) + MARGIN];
  const [width, height] = at(total);
  const boxes = machine.phases.map(({ name, role }, index) => {
    const [x, y] = at([alongOf(index), besideOf(index)]);
    return { name, role, x, y };
  });
  return { width, height, boxWidth, boxHeight: BOX_HEIGHT, boxes, edges };
}

interface Span {
  readonly index: number;
  readonly from: number;
  readonly until: number;
}

/** Each as near as it gets without running into another; the short ones nearest. */
function lanesOf(spans: readonly Span[]): ReadonlyMap<number, number> {
  const lanes: Span[][] = [];
  const found = new Map<number, number>();
  for (const span of spans.toSorted((a, b) => a.until - a.from - (b.until - b.from))) {
    let lane = lanes.findIndex((others) => others.every((other) => other.until < span.from || other.from > span.until));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane]?.push(span);
    found.set(span.index, lane);
  }
  return found;
}

const CORNER = 8;

function rounded(points: readonly (readonly [number, number])[]): string {
  const path = points.map(([x, y], index) => {
    const before = points[index - 1];
    const after = points[index + 1];
    if (!before) return `M${x},${y}`;
    if (!after) return `L${x},${y}`;
    return `L${towards([x, y], before)} Q${x},${y} ${towards([x, y], after)}`;
  });
  return path.join(' ');
}

function towards([x, y]: readonly [number, number], [toX, toY]: readonly [number, number]): string {
  const far = Math.hypot(toX - x, toY - y);
  const step = far === 0 ? 0 : Math.min(CORNER, far / 2) / far;
  return `${x + (toX - x) * step},${y + (toY - y) * step}`;
}

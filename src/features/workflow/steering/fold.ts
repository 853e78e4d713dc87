import type { TaskStatus } from '../workflows/index.ts';

/** If a workflow has more tasks than this, each of its parallel groups is folded into one node. */
export const SHOWN_WHOLE = 300;
/** The maximum number of nodes in the graph of any workflow. */
export const MAX_DRAWN = 400;
/** If there are still too many nodes, tasks of neighbouring layers are folded into at most this many ranges. */
const RANGES = 200;

interface FoldTask {
  readonly id: string;
  readonly sequence: number;
  readonly group: string | null;
  readonly status: TaskStatus;
}

/** A node of the graph. It stands for one task or for several folded tasks. `members` contains the indexes of these tasks in the list of tasks. */
export interface Drawn {
  readonly members: readonly number[];
  /** The key with which a person folds or unfolds the node. Null for a task that cannot be folded. */
  readonly key: string | null;
  readonly name: string | null;
  readonly folded: boolean;
}

interface Unit extends Drawn {
  readonly key: string;
  readonly name: string;
}

const STANDS_OUT: readonly TaskStatus[] = ['failed', 'in_progress', 'planning', 'paused'];

/**
 * Returns the nodes to draw, in plan order. In a small workflow, each task is a node. In a large workflow, each parallel group is folded into one
 * node, unless a task in the group failed. `turned` contains the keys of the groups that a person has folded or unfolded.
 */
export function fold(tasks: readonly FoldTask[], layers: Int32Array, turned: ReadonlySet<string> = new Set()): Drawn[] {
  if (tasks.length <= SHOWN_WHOLE) return tasks.map((_, place) => alone(place));
  let units = grouped(tasks);
  if (units.length > SHOWN_WHOLE) units = inRanges(units, tasks, layers);
  const failing = (unit: Unit): boolean => unit.members.some((place) => tasks[place]?.status === 'failed');
  const isOpen = (unit: Unit): boolean => unit.members.length > 1 && failing(unit) !== turned.has(unit.key);
  // There is room for a limited number of nodes. Groups that a person has unfolded get it first.
  const opening = units.filter(isOpen).sort((one, other) => Number(turned.has(other.key)) - Number(turned.has(one.key)));
  let room = MAX_DRAWN - units.length;
  const opened = new Map<Unit, readonly Drawn[]>();
  for (const unit of opening) {
    const drawn = open(unit, tasks, room);
    room -= drawn.length - 1;
    opened.set(unit, drawn);
  }
  return units.flatMap((unit) => opened.get(unit) ?? (unit.members.length === 1 ? alone(unit.members[0] as number) : unit));
}

const alone = (place: number): Drawn => ({ members: [place], key: null, name: null, folded: false });

/** The key contains the id of the first task and not the name of the group, because a name may contain any character. */
const keyOf = (members: readonly number[], tasks: readonly FoldTask[]): string => `fold_${tasks[members[0] as number]?.id}`;

function grouped(tasks: readonly FoldTask[]): Unit[] {
  const groups = new Map<string, number[]>();
  const units: number[][] = [];
  for (const [place, { group }] of tasks.entries()) {
    const known = group === null ? undefined : groups.get(group);
    if (known) {
      known.push(place);
      continue;
    }
    const members = [place];
    units.push(members);
    if (group !== null) groups.set(group, members);
  }
  return units.map((members) => ({ members, key: keyOf(members, tasks), name: tasks[members[0] as number]?.group ?? '', folded: true }));
}

function inRanges(units: readonly Unit[], tasks: readonly FoldTask[], layers: Int32Array): Unit[] {
  const lowest = (unit: Unit): number => unit.members.reduce((least, place) => Math.min(least, layers[place] as number), Number.POSITIVE_INFINITY);
  const sorted = units.map((unit) => ({ unit, layer: lowest(unit) })).sort((one, other) => one.layer - other.layer);
  const size = Math.ceil(units.length / RANGES);
  const ranges: Unit[] = [];
  for (let at = 0; at < sorted.length; at += size) {
    const members = sorted
      .slice(at, at + size)
      .flatMap(({ unit }) => unit.members)
      .sort((one, other) => one - other);
    const sequences = members.map((place) => tasks[place]?.sequence ?? 0);
    const [from, to] = [sequences[0], sequences.at(-1)];
    ranges.push({ members, key: keyOf(members, tasks), name: from === to ? `Step ${from}` : `Steps ${from} to ${to}`, folded: true });
  }
  return ranges;
}

/** If there is room, draws every task of the group as a separate node. Otherwise draws only failed and active tasks separately, and folds the rest. */
function open(unit: Unit, tasks: readonly FoldTask[], room: number): Drawn[] {
  const single = (place: number): Drawn => ({ members: [place], key: unit.key, name: unit.name, folded: false });
  if (unit.members.length - 1 <= room) return unit.members.map(single);
  const rank = (place: number): number => STANDS_OUT.indexOf(tasks[place]?.status ?? 'pending');
  const out = unit.members.filter((place) => rank(place) >= 0).sort((one, other) => rank(one) - rank(other));
  const shown = new Set(out.slice(0, Math.max(0, room)));
  const rest = unit.members.filter((place) => !shown.has(place));
  return [...[...shown].map(single), ...(rest.length > 0 ? [{ ...unit, members: rest }] : [])];
}

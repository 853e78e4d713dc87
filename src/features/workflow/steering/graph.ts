import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { isSatisfied, shownStatus, type TaskStatus } from '../workflows/index.ts';
import type { workflowsGraph } from './contract.ts';
import type { GraphTask } from './store.ts';
import { layersOf, longestChain, rowsWithinLayers, type TaskEdge, withoutImplied } from './task-graph.ts';

type Graph = Output<typeof workflowsGraph>;
type Node = Graph['nodes'][number];

const NAME_SHOWN = 100;
/** More edges than these nobody can follow: then only those are drawn that no others imply. */
const ALL_EDGES = 600;
const MAX_EDGES = 1_500;

interface Whole {
  readonly tasks: readonly GraphTask[];
  readonly edges: readonly { task_id: string; depends_on: string }[];
  readonly names: ReadonlyMap<string, string>;
  readonly turned: ReadonlySet<string>;
}

/** The picture of a workflow: what is drawn, where it stands, and which edges. */
export function graphOf({ tasks, edges, names, turned }: Whole): Omit<Graph, 'workflow_id'> {
  const places = new Map(tasks.map(({ id }, place) => [id, place]));
  const whole = edges.flatMap(({ task_id, depends_on }): TaskEdge[] => {
    const [first, then] = [places.get(depends_on), places.get(task_id)];
    return first === undefined || then === undefined ? [] : [[first, then]];
  });
  const statuses = tasks.map(shownStatus);
  const depth = layersOf(tasks.length, whole);
  const chain = longestChain(tasks.length, whole, (place) => !isSatisfied((tasks[place] as GraphTask).status));
  const drawn = fold(
    tasks.map(({ id, sequence, parallel_group }, place) => ({ id, sequence, group: parallel_group, status: statuses[place] as TaskStatus })),
    depth,
    turned,
  );
  const { layers, rows, kept, all } = placed(drawn, depth, whole);
  const critical = new Set(chain);
  const onChain = chainEdges(chain, drawn);
  const folded = drawn.some((each) => each.folded);
  return {
    nodes: drawn.map((each, at) => ({
      ...(each.folded ? foldedNode(each, statuses) : taskNode(each, tasks, statuses, names)),
      layer: layers[at] as number,
      row: rows[at] as number,
      critical: each.members.some((place) => critical.has(place)),
    })),
    edges: kept.map(([from, to]) => ({ from, to, critical: onChain.has(`${from} ${to}`) })),
    edges_hidden: all - kept.length,
    tasks: tasks.length,
    folded,
    critical_length: chain.length,
  };
}

function placed(drawn: readonly Drawn[], depth: Int32Array, whole: readonly TaskEdge[]) {
  const home = homes(drawn);
  const unique = new Map<string, TaskEdge>();
  for (const [first, then] of whole) {
    const [from, to] = [home[first] as number, home[then] as number];
    if (from !== to) unique.set(`${from} ${to}`, [from, to]);
  }
  // Folded groups may wait for each other: those edges lead back, and take no part in the layers.
  const lowest = drawn.map(({ members }) => members.reduce((least, place) => Math.min(least, depth[place] as number), Number.POSITIVE_INFINITY));
  const leadsOn = ([from, to]: TaskEdge): boolean => (lowest[from] as number) < (lowest[to] as number) || (lowest[from] === lowest[to] && from < to);
  const edges = [...unique.values()];
  const forward = edges.filter(leadsOn);
  const back = edges.filter((edge) => !leadsOn(edge));
  const layers = layersOf(drawn.length, forward);
  const shown = edges.length > ALL_EDGES ? withoutImplied(layers, forward) : forward;
  return { layers, rows: rowsWithinLayers(layers, shown), kept: [...shown, ...back].slice(0, MAX_EDGES), all: edges.length };
}

/** Which of the drawn each task is in. */
function homes(drawn: readonly Drawn[]): Int32Array {
  const home = new Int32Array(drawn.reduce((sum, { members }) => sum + members.length, 0));
  for (const [at, { members }] of drawn.entries()) for (const place of members) home[place] = at;
  return home;
}

function chainEdges(chain: readonly number[], drawn: readonly Drawn[]): Set<string> {
  const home = homes(drawn);
  return new Set(chain.slice(1).map((place, at) => `${home[chain[at] as number]} ${home[place]}`));
}

type Content = Omit<Node, 'layer' | 'row' | 'critical'>;

function taskNode({ members, key, name }: Drawn, tasks: readonly GraphTask[], statuses: readonly TaskStatus[], names: ReadonlyMap<string, string>): Content {
  const place = members[0] as number;
  const { id, name: own, sequence, parallel_group, assigned_agent_id, question_id } = tasks[place] as GraphTask;
  const status = statuses[place] as TaskStatus;
  const agent_name = assigned_agent_id === null ? null : (names.get(assigned_agent_id) ?? null);
  return {
    id,
    name: beginning(own, NAME_SHOWN),
    key,
    group: name || parallel_group,
    task: { status, sequence, agent_name, asks: question_id !== null },
    counts: null,
  };
}

const RUNNING: readonly TaskStatus[] = ['planning', 'in_progress'];

function foldedNode({ members, key, name }: Drawn, statuses: readonly TaskStatus[]): Content {
  const count = (among: readonly TaskStatus[]): number => members.filter((place) => among.includes(statuses[place] as TaskStatus)).length;
  const counts = {
    total: members.length,
    done: count(['completed', 'skipped']),
    running: count(RUNNING),
    failed: count(['failed']),
    waiting: count(['paused']),
  };
  return { id: key as string, name: beginning(name as string, NAME_SHOWN), key, group: name, task: null, counts };
}

/** More tasks than these are folded by their parallel groups. */
export const SHOWN_WHOLE = 300;
/** What a picture of any workflow has at most. */
export const MAX_DRAWN = 400;
/** Where even the groups are too many, neighbours are folded into so many. */
const RANGES = 200;

interface FoldTask {
  readonly id: string;
  readonly sequence: number;
  readonly group: string | null;
  readonly status: TaskStatus;
}

/** What is drawn as one: a task, or several that are folded into each other. Members are places in the list of tasks. */
interface Drawn {
  readonly members: readonly number[];
  /** Of what is folded, or was: what opens and folds it. Null for a task that always stands alone. */
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
 * What is drawn of the tasks, which must stand in the order of the plan: all of a small workflow; of a large one the groups, those
 * in which something failed opened. `turned`: keys of what is to be the other way than it would be by itself.
 */
export function fold(tasks: readonly FoldTask[], layers: Int32Array, turned: ReadonlySet<string> = new Set()): Drawn[] {
  if (tasks.length <= SHOWN_WHOLE) return tasks.map((_, place) => alone(place));
  let units = grouped(tasks);
  if (units.length > SHOWN_WHOLE) units = inRanges(units, tasks, layers);
  const failing = (unit: Unit): boolean => unit.members.some((place) => tasks[place]?.status === 'failed');
  const isOpen = (unit: Unit): boolean => unit.members.length > 1 && failing(unit) !== turned.has(unit.key);
  // What somebody asked for has the first claim to the room.
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

/** By the first of its tasks: a name may hold anything. */
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

/** All of it where there is room; else what stands out, beside the folded rest. */
function open(unit: Unit, tasks: readonly FoldTask[], room: number): Drawn[] {
  const single = (place: number): Drawn => ({ members: [place], key: unit.key, name: unit.name, folded: false });
  if (unit.members.length - 1 <= room) return unit.members.map(single);
  const rank = (place: number): number => STANDS_OUT.indexOf(tasks[place]?.status ?? 'pending');
  const out = unit.members.filter((place) => rank(place) >= 0).sort((one, other) => rank(one) - rank(other));
  const shown = new Set(out.slice(0, Math.max(0, room)));
  const rest = unit.members.filter((place) => !shown.has(place));
  return [...[...shown].map(single), ...(rest.length > 0 ? [{ ...unit, members: rest }] : [])];
}

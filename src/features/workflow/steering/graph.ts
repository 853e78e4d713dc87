import type { Output } from '../../../kernel/contract.ts';
import { beginning } from '../../../kernel/excerpt.ts';
import { isSatisfied, shownStatus, type TaskStatus } from '../workflows/index.ts';
import type { workflowsGraph } from './contract.ts';
import { type Drawn, fold } from './fold.ts';
import type { GraphTask } from './store.ts';
import { layersOf, longestChain, rowsWithinLayers, type TaskEdge, withoutImplied } from './task-graph.ts';

type Graph = Output<typeof workflowsGraph>;
type Node = Graph['nodes'][number];

const NAME_SHOWN = 100;
/** A graph with more edges than this is too hard to read. In such a graph, edges that follow from other edges are left out. */
const ALL_EDGES = 600;
const MAX_EDGES = 1_500;

interface Whole {
  readonly tasks: readonly GraphTask[];
  readonly edges: readonly { task_id: string; depends_on: string }[];
  readonly names: ReadonlyMap<string, string>;
  readonly turned: ReadonlySet<string>;
}

/** Returns the graph of a workflow: its nodes with their positions, and its edges. */
export function graphOf({ tasks, edges, names, turned }: Whole): Omit<Graph, 'workflow_id'> {
  const places = new Map(tasks.map(({ id }, place) => [id, place]));
  const whole = edges.flatMap(({ task_id, depends_on }): TaskEdge[] => {
    const [first, then] = [places.get(depends_on), places.get(task_id)];
    return first === undefined || then === undefined ? [] : [[first, then]];
  });
  const statuses = tasks.map(shownStatus);
  const depth = layersOf(tasks.length, whole);
  const chain = longestChain(tasks.length, whole, (place) => !isSatisfied((tasks[place] as GraphTask).status));
  const foldable = tasks.map(({ id, sequence, parallel_group }, place) => ({ id, sequence, group: parallel_group, status: statuses[place] as TaskStatus }));
  const drawn = fold(foldable, depth, turned);
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
  // Two folded groups may wait for each other, although single tasks never do. To compute layers, edges that lead back to an earlier layer are
  // therefore ignored.
  const lowest = drawn.map(({ members }) => members.reduce((least, place) => Math.min(least, depth[place] as number), Number.POSITIVE_INFINITY));
  const leadsOn = ([from, to]: TaskEdge): boolean => (lowest[from] as number) < (lowest[to] as number) || (lowest[from] === lowest[to] && from < to);
  const edges = [...unique.values()];
  const forward = edges.filter(leadsOn);
  const back = edges.filter((edge) => !leadsOn(edge));
  const layers = layersOf(drawn.length, forward);
  const shown = edges.length > ALL_EDGES ? withoutImplied(layers, forward) : forward;
  return { layers, rows: rowsWithinLayers(layers, shown), kept: [...shown, ...back].slice(0, MAX_EDGES), all: edges.length };
}

/** Returns, for each task, the index of the node that contains the task. */
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

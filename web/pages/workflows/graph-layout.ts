import type { WorkflowGraph } from '../../api.ts';

type GraphNode = WorkflowGraph['nodes'][number];

/** The style of the graph's frame, used before the size of the graph is known. */
export const FRAME = 'panel h-[min(70vh,40rem)] min-h-72';
export const NODE = { width: 208, height: 56 } as const;
const PITCH = { x: NODE.width + 72, y: NODE.height + 16 } as const;
/** The maximum number of nodes in a column. A layer with more nodes takes several columns. */
const TALLEST = 20;

export interface PlacedNode {
  readonly node: GraphNode;
  /** The index of the node in the server's list. Edges refer to nodes by this index. */
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** Places the layers from left to right and centres each one vertically. The result is in reading order. */
export function placedNodes(nodes: readonly GraphNode[]): PlacedNode[] {
  const layers: { node: GraphNode; index: number }[][] = [];
  for (const [index, node] of nodes.entries()) (layers[node.layer] ??= []).push({ node, index });
  const tallest = Math.min(TALLEST, Math.max(0, ...layers.map((layer) => layer?.length ?? 0)));
  const placed: PlacedNode[] = [];
  let column = 0;
  for (const layer of layers) {
    const sorted = (layer ?? []).sort((one, other) => one.node.row - other.node.row);
    const columns = Math.max(1, Math.ceil(sorted.length / TALLEST));
    const rows = Math.ceil(sorted.length / columns);
    const top = ((tallest - rows) / 2) * PITCH.y;
    for (const [at, each] of sorted.entries()) placed.push({ ...each, x: (column + Math.floor(at / rows)) * PITCH.x, y: top + (at % rows) * PITCH.y });
    column += columns;
  }
  return placed;
}

const STANDS_OUT: readonly string[] = ['failed', 'in_progress', 'planning', 'paused'];
const stands = ({ task, counts }: GraphNode): boolean => (task ? STANDS_OUT.includes(task.status) : counts !== null && counts.failed + counts.running > 0);

const MARGIN = 24;
/** The smallest zoom at which people can read the text. */
const READABLE = 0.6;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The height that the whole graph needs, including margins. */
export const heightOf = (placed: readonly PlacedNode[]): number => Math.max(0, ...placed.map(({ y }) => y)) + NODE.height + 2 * MARGIN + 48;

/**
 * Returns the initial view. If the text stays readable, it shows the whole graph. Otherwise it shows the most important task: one that has failed or is
 * running, or else one that can be claimed.
 */
export function firstView(placed: readonly PlacedNode[], size: Size): { x: number; y: number; zoom: number } {
  const whole = fitted(placed, size);
  if (whole.zoom >= READABLE) return whole;
  const sought = placed.find(({ node }) => stands(node)) ?? placed.find(({ node }) => node.task?.status === 'pending') ?? placed[0];
  if (!sought) return whole;
  const zoom = READABLE;
  // Place the task at one third of the width, so that more of the tasks after it are visible.
  return { x: size.width / 3 - (sought.x + NODE.width / 2) * zoom, y: size.height / 2 - (sought.y + NODE.height / 2) * zoom, zoom };
}

export function fitted(placed: readonly PlacedNode[], { width, height }: Size): { x: number; y: number; zoom: number } {
  const right = Math.max(0, ...placed.map(({ x }) => x)) + NODE.width;
  const bottom = Math.max(0, ...placed.map(({ y }) => y)) + NODE.height;
  const zoom = Math.min(1, (width - 2 * MARGIN) / right, (height - 2 * MARGIN) / bottom);
  return { x: Math.max(MARGIN, (width - right * zoom) / 2), y: Math.max(MARGIN, (height - bottom * zoom) / 2), zoom };
}

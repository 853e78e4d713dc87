import type { WorkflowGraph } from '../../api.ts';

type GraphNode = WorkflowGraph['nodes'][number];

/** The frame of the graph before its size is known. */
export const FRAME = 'panel h-[min(70vh,40rem)] min-h-72';
export const NODE = { width: 208, height: 56 } as const;
const PITCH = { x: NODE.width + 72, y: NODE.height + 16 } as const;
/** A layer with more nodes takes several columns, so that one column never has hundreds of nodes. */
const TALLEST = 20;

export interface PlacedNode {
  readonly node: GraphNode;
  /** Its index in the server's list, which edges refer to. */
  readonly index: number;
  readonly x: number;
  readonly y: number;
}

/** Places layers from left to right, each centred vertically, in reading order. */
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
/** At a smaller zoom the text cannot be read. */
const READABLE = 0.6;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The height that shows everything, with margins. */
export const heightOf = (placed: readonly PlacedNode[]): number => Math.max(0, ...placed.map(({ y }) => y)) + NODE.height + 2 * MARGIN + 48;

/**
 * The initial view: the whole graph, or if that would be too small to read, the part that matters most: a failed or running task, otherwise
 * a task that can be claimed.
 */
export function firstView(placed: readonly PlacedNode[], size: Size): { x: number; y: number; zoom: number } {
  const whole = fitted(placed, size);
  if (whole.zoom >= READABLE) return whole;
  const sought = placed.find(({ node }) => stands(node)) ?? placed.find(({ node }) => node.task?.status === 'pending') ?? placed[0];
  if (!sought) return whole;
  const zoom = READABLE;
  // Places the task a third from the left, to show more of the tasks after it.
  return { x: size.width / 3 - (sought.x + NODE.width / 2) * zoom, y: size.height / 2 - (sought.y + NODE.height / 2) * zoom, zoom };
}

/** The view that shows the whole graph. */
export function fitted(placed: readonly PlacedNode[], { width, height }: Size): { x: number; y: number; zoom: number } {
  const right = Math.max(0, ...placed.map(({ x }) => x)) + NODE.width;
  const bottom = Math.max(0, ...placed.map(({ y }) => y)) + NODE.height;
  const zoom = Math.min(1, (width - 2 * MARGIN) / right, (height - 2 * MARGIN) / bottom);
  return { x: Math.max(MARGIN, (width - right * zoom) / 2), y: Math.max(MARGIN, (height - bottom * zoom) / 2), zoom };
}

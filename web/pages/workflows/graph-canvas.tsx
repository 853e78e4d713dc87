import '@xyflow/react/dist/base.css';
import { Link } from '@tanstack/react-router';
import {
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  type NodeTypes,
  Panel,
  Position,
  ReactFlow,
  type ReactFlowInstance,
  useReactFlow,
  type Viewport,
} from '@xyflow/react';
import { createContext, type FocusEvent, type ReactNode, use, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { WorkflowGraph } from '../../api.ts';
import { State, type Tone } from '../../parts/layout.tsx';
import { escapeBidi, UntrustedText } from '../../parts/values.tsx';
import { firstView, fitted, heightOf, NODE, type PlacedNode, placedNodes } from './graph-layout.ts';
import { statusWords, TASK_TONES } from './status.ts';

type DrawnNode = Node<{ node: WorkflowGraph['nodes'][number] }>;

/** A function for the nodes of the graph that opens or folds a group. */
const Turning = createContext<(key: string) => void>(() => {});

const NODE_TYPES: NodeTypes = { task: TaskBox, group: GroupBox };
const FURTHEST = 0.02;

interface CanvasProps {
  graph: WorkflowGraph;
  onTurn: (key: string) => void;
}

export default function GraphCanvas({ graph, onTurn }: CanvasProps) {
  const placed = useMemo(() => placedNodes(graph.nodes), [graph]);
  const nodes = useMemo(() => placed.map(drawnNode), [placed]);
  const edges = useMemo(() => drawnEdges(graph), [graph]);
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Viewport>();
  // This effect runs only once, because the view must not move when tasks change.
  useLayoutEffect(() => {
    const size = frame.current?.getBoundingClientRect();
    if (size) setView((before) => before ?? firstView(placed, size));
  }, [placed]);
  return (
    <Turning value={onTurn}>
      <div ref={frame} className="panel max-h-[min(70vh,40rem)] min-h-56 overflow-hidden" style={{ height: heightOf(placed) }}>
        {view && (
          <ReactFlow
            aria-label="Graph of the workflow"
            nodes={nodes}
            edges={edges}
            nodeTypes={NODE_TYPES}
            defaultViewport={view}
            minZoom={FURTHEST}
            maxZoom={1.5}
            onlyRenderVisibleElements
            nodesDraggable={false}
            nodesConnectable={false}
            nodesFocusable={false}
            edgesFocusable={false}
            elementsSelectable={false}
            deleteKeyCode={null}
            // The mouse wheel scrolls the page. With Ctrl, it zooms the graph.
            zoomOnScroll={false}
            preventScrolling={false}
            zoomOnDoubleClick={false}
            proOptions={{ hideAttribution: true }}
          >
            <Controls onWhole={(flow) => frame.current && void flow.setViewport(fitted(placed, frame.current.getBoundingClientRect()))} />
          </ReactFlow>
        )}
      </div>
    </Turning>
  );
}

function Controls({ onWhole }: { onWhole: (flow: ReactFlowInstance) => void }) {
  const flow = useReactFlow();
  return (
    <Panel position="bottom-right" className="flex gap-1">
      <button type="button" className="button px-2.5" aria-label="Zoom out" onClick={() => void flow.zoomOut()}>
        −
      </button>
      <button type="button" className="button px-2.5" aria-label="Zoom in" onClick={() => void flow.zoomIn()}>
        +
      </button>
      <button type="button" className="button" onClick={() => onWhole(flow)}>
        Fit
      </button>
    </Panel>
  );
}

const drawnNode = ({ node, x, y }: PlacedNode): DrawnNode => ({
  id: node.id,
  type: node.task ? 'task' : 'group',
  position: { x, y },
  data: { node },
  ...NODE,
  // The sizes are fixed, so that the library does not have to measure the nodes.
  handles: [
    { type: 'target', position: Position.Left, x: 0, y: NODE.height / 2, width: 1, height: 1 },
    { type: 'source', position: Position.Right, x: NODE.width, y: NODE.height / 2, width: 1, height: 1 },
  ],
});

const drawnEdges = ({ nodes, edges }: WorkflowGraph): Edge[] =>
  edges.map(({ from, to, critical }) => {
    const [source, target] = [nodes[from]?.id ?? '', nodes[to]?.id ?? ''];
    return {
      id: `${source} ${target}`,
      source,
      target,
      zIndex: critical ? 1 : 0,
      style: { stroke: critical ? 'var(--text)' : 'var(--control)', strokeWidth: critical ? 3 : 1 },
    };
  });

/** The outline of tasks that are running, have failed or wait for the viewer. */
const OUTLINES: Partial<Record<Tone, string>> = { live: 'border-live ring-1 ring-live', bad: 'border-bad ring-1 ring-bad', you: 'border-you ring-1 ring-you' };
// `pointer-events-auto` is needed because the library disables pointer events on nodes that cannot be dragged.
const BOX = 'pointer-events-auto grid h-full w-full content-center gap-0.5 overflow-hidden rounded-md border bg-base px-2 text-left hover:bg-surface';

function TaskBox({ data: { node }, positionAbsoluteX: x, positionAbsoluteY: y }: NodeProps<DrawnNode>) {
  const turn = use(Turning);
  const { task } = node;
  const centre = useCentre(x, y);
  if (!task) return null;
  const tone: Tone = task.asks ? 'you' : TASK_TONES[task.status];
  return (
    <Ends>
      <Link
        to="."
        search={(search) => ({ ...search, task: node.id })}
        resetScroll={false}
        data-id={node.id}
        onFocus={centre}
        className={`${BOX} ${OUTLINES[tone] ?? 'border-control'}`}
      >
        <UntrustedText text={node.name} brief="line" className="min-w-0 font-medium" />
        <span className="flex items-center gap-1.5 overflow-hidden whitespace-nowrap">
          <State tone={tone}>{task.asks ? 'waiting on you' : statusWords(task.status)}</State>
          {task.agent_name && <UntrustedText text={task.agent_name} brief="line" className="min-w-0 text-label text-muted" />}
        </span>
      </Link>
      {node.key !== null && (
        <button
          type="button"
          className="pointer-events-auto absolute -top-2 -right-2 size-5 rounded-full border border-control bg-base text-label leading-none text-muted hover:bg-surface"
          aria-label={`Fold ${escapeBidi(node.group ?? 'group')}`}
          title={`Fold ${escapeBidi(node.group ?? 'group')}`}
          onClick={() => turn(node.key as string)}
        >
          −
        </button>
      )}
    </Ends>
  );
}

/** A folded group of tasks. It shows how many of them are done, have failed and are running. */
function GroupBox({ data: { node }, positionAbsoluteX: x, positionAbsoluteY: y }: NodeProps<DrawnNode>) {
  const turn = use(Turning);
  const { counts } = node;
  const centre = useCentre(x, y);
  if (!counts) return null;
  const tone: Tone = counts.failed > 0 ? 'bad' : counts.running > 0 ? 'live' : counts.done === counts.total ? 'good' : 'quiet';
  const rest = [
    counts.failed > 0 && `${counts.failed} failed`,
    counts.running > 0 && `${counts.running} running`,
    counts.waiting > 0 && `${counts.waiting} paused`,
  ];
  return (
    <Ends>
      <button
        type="button"
        aria-expanded="false"
        onFocus={centre}
        onClick={() => turn(node.key as string)}
        className={`${BOX} border-dashed shadow-[3px_3px_0_var(--surface),4px_4px_0_var(--control)] ${OUTLINES[tone] ?? 'border-control'}`}
      >
        <UntrustedText text={node.name} brief="line" className="min-w-0 font-medium" />
        <span className="flex items-center gap-1.5 overflow-hidden whitespace-nowrap">
          <State tone={tone}>{[`${counts.done}/${counts.total}`, ...rest.filter(Boolean)].join(' · ')}</State>
        </span>
      </button>
    </Ends>
  );
}

/** The points at which edges begin and end. People cannot draw new edges. */
function Ends({ children }: { children: ReactNode }) {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} className="invisible" />
      {children}
      <Handle type="source" position={Position.Right} isConnectable={false} className="invisible" />
    </>
  );
}

/** When a node gets the focus by keyboard, moves it to the centre. Its neighbours are then drawn, so that the keyboard can reach them. */
function useCentre(x: number, y: number): (event: FocusEvent) => void {
  const flow = useReactFlow();
  return ({ target }) => {
    if (target.matches(':focus-visible')) void flow.setCenter(x + NODE.width / 2, y + NODE.height / 2, { zoom: flow.getZoom() });
  };
}

import '@xyflow/react/dist/base.css';
import { type Edge, type NodeTypes, Panel, Position, ReactFlow, type ReactFlowInstance, useReactFlow, type Viewport } from '@xyflow/react';
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { WorkflowGraph } from '../../api.ts';
import { GroupBox, TaskBox } from './graph-boxes.tsx';
import { firstView, fitted, heightOf, NODE, type PlacedNode, placedNodes } from './graph-layout.ts';
import { type DrawnNode, Turning } from './graph-turn.ts';

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
  // Once: what is looked at stays where it is when the work goes on.
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
            // The wheel belongs to the page; with Ctrl it zooms.
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
        Whole
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
  // Known beforehand: nothing has to be measured.
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

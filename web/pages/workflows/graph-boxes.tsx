import { Link } from '@tanstack/react-router';
import { Handle, type NodeProps, Position, useReactFlow } from '@xyflow/react';
import type { FocusEvent, ReactNode } from 'react';
import { escapeBidi, UntrustedText } from '../../parts/said.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { NODE } from './graph-layout.ts';
import { type DrawnNode, useTurn } from './graph-turn.ts';
import { said, TASK_TONES } from './status.ts';

/** Running and failed stand out by their outline. */
const OUTLINES: Partial<Record<Tone, string>> = { live: 'border-live ring-1 ring-live', bad: 'border-bad ring-1 ring-bad', you: 'border-you ring-1 ring-you' };
// The picture takes the pointer from what stands in it, unless that can be dragged.
const BOX = 'pointer-events-auto grid h-full w-full content-center gap-0.5 overflow-hidden rounded-md border bg-base px-2 text-left hover:bg-surface';

export function TaskBox({ data: { node }, positionAbsoluteX: x, positionAbsoluteY: y }: NodeProps<DrawnNode>) {
  const turn = useTurn();
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
        <span className="min-w-0 font-medium">
          <UntrustedText text={node.name} brief="line" />
        </span>
        <span className="flex items-center gap-1.5 overflow-hidden whitespace-nowrap">
          <State tone={tone}>{task.asks ? 'asks you' : said(task.status)}</State>
          {task.agent_name && (
            <span className="min-w-0 text-label text-muted">
              <UntrustedText text={task.agent_name} brief="line" />
            </span>
          )}
        </span>
      </Link>
      {node.key !== null && (
        <button
          type="button"
          className="pointer-events-auto absolute -top-2 -right-2 size-5 rounded-full border border-control bg-base text-label leading-none text-muted hover:bg-surface"
          aria-label={`Fold ${escapeBidi(node.group ?? 'its group')}`}
          title={`Fold ${escapeBidi(node.group ?? 'its group')}`}
          onClick={() => turn(node.key as string)}
        >
          −
        </button>
      )}
    </Ends>
  );
}

/** Several tasks as one: how many are done, and what stands out among them. */
export function GroupBox({ data: { node }, positionAbsoluteX: x, positionAbsoluteY: y }: NodeProps<DrawnNode>) {
  const turn = useTurn();
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
        <span className="min-w-0 font-medium">
          <UntrustedText text={node.name} brief="line" />
        </span>
        <span className="flex items-center gap-1.5 overflow-hidden whitespace-nowrap">
          <State tone={tone}>{[`${counts.done}/${counts.total}`, ...rest.filter(Boolean)].join(' · ')}</State>
        </span>
      </button>
    </Ends>
  );
}

/** Where the lines begin and end. Nobody draws new ones. */
function Ends({ children }: { children: ReactNode }) {
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} className="invisible" />
      {children}
      <Handle type="source" position={Position.Right} isConnectable={false} className="invisible" />
    </>
  );
}

/** Whoever comes by keyboard sees what comes next: only what is in sight is in the page. */
function useCentre(x: number, y: number): (event: FocusEvent) => void {
  const flow = useReactFlow();
  return ({ target }) => {
    if (target.matches(':focus-visible')) void flow.setCenter(x + NODE.width / 2, y + NODE.height / 2, { zoom: flow.getZoom() });
  };
}

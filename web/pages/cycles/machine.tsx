import { useId, useLayoutEffect, useRef, useState } from 'react';
import type { ShownCycle } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { type Box, type Drawing, drawMachine, type TransitionEdge } from './layout.ts';

type Machine = ShownCycle['machine'];
type Transition = Machine['transitions'][number];

interface MachineProps {
  machine: Machine;
  /** How often each transition was made. */
  taken: readonly number[];
  /** Null once the cycle is over. */
  phase: string | null;
}

const isBack = ({ phases }: Machine, { from, to }: Transition): boolean =>
  phases.findIndex(({ name }) => name === to) <= phases.findIndex(({ name }) => name === from);
const how = ({ target }: Transition): string => (target === undefined ? 'complete' : `to ${target}`);

function labelOf(machine: Machine, transition: Transition, times: number): string {
  const rework = isBack(machine, transition) ? ' · rework' : '';
  return `${how(transition)}${rework}${times > 0 ? ` ×${times}` : ''}`;
}

/** The phases, whose turn each is, and the ways between them: across where there is room, otherwise downwards. */
export function PhaseMachine({ machine, taken, phase }: MachineProps) {
  const place = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    setRoom(element.clientWidth);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const labels = machine.transitions.map((transition, index) => labelOf(machine, transition, taken[index] ?? 0));
  const wide = drawMachine(machine, labels, true);
  const drawing = wide.width <= room ? wide : drawMachine(machine, labels, false);
  return (
    <figure className="grid gap-2">
      {/* Many phases side by side may be wider than the page: then the keyboard can move it. */}
      <div ref={place} className="overflow-x-auto" {...(drawing.width > room && { tabIndex: 0, role: 'group', 'aria-label': 'Picture of the phases' })}>
        {room > 0 && <Picture drawing={drawing} labels={labels} taken={taken} phase={phase} />}
      </div>
      <details className="text-label">
        <summary className="cursor-pointer text-muted">The phases as a table</summary>
        <Transitions machine={machine} taken={taken} phase={phase} />
      </details>
    </figure>
  );
}

interface PictureProps extends Pick<MachineProps, 'taken' | 'phase'> {
  drawing: Drawing;
  labels: readonly string[];
}

function Picture({ drawing: { width, height, boxes, edges, boxWidth, boxHeight }, labels, taken, phase }: PictureProps) {
  const arrow = useId();
  const told = boxes.map(({ name, role }) => `${name} of ${role}${name === phase ? ', now' : ''}`).join('; ');
  return (
    <svg role="img" aria-label={`Phases: ${told}`} width={width} height={height} viewBox={`0 0 ${width} ${height}`} className="mx-auto block font-sans">
      <defs>
        {(['live', 'wait', 'control'] as const).map((colour) => (
          <marker
            key={colour}
            id={`${arrow}${colour}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0L8 4L0 8z" className={FILLS[colour]} />
          </marker>
        ))}
      </defs>
      {edges.map((edge) => (
        <Way key={edge.index} edge={edge} taken={(taken[edge.index] ?? 0) > 0} arrow={arrow} />
      ))}
      {edges.map((edge) => (
        <Label key={edge.index} edge={edge} text={labels[edge.index] ?? ''} taken={(taken[edge.index] ?? 0) > 0} />
      ))}
      {boxes.map((box) => (
        <Phase key={box.name} box={box} width={boxWidth} height={boxHeight} now={box.name === phase} />
      ))}
    </svg>
  );
}

/** Whole names, or the style sheet would not hold them. */
const FILLS = { live: 'fill-live', wait: 'fill-wait', control: 'fill-control' };
const STROKES = { live: 'stroke-live', wait: 'stroke-wait', control: 'stroke-control' };
const colourOf = ({ back }: TransitionEdge, taken: boolean): keyof typeof FILLS => (!taken ? 'control' : back ? 'wait' : 'live');

function Way({ edge, taken, arrow }: { edge: TransitionEdge; taken: boolean; arrow: string }) {
  const colour = colourOf(edge, taken);
  return <path d={edge.path} fill="none" strokeWidth={taken ? 2 : 1} className={STROKES[colour]} markerEnd={`url(#${arrow}${colour})`} />;
}

function Label({ edge: { label, back }, text, taken }: { edge: TransitionEdge; text: string; taken: boolean }) {
  return (
    <g>
      <rect x={label.x - label.width / 2} y={label.y - 9} width={label.width} height={18} rx={4} className="fill-base" />
      <text x={label.x} y={label.y + 4} textAnchor="middle" className={`text-label ${taken ? (back ? 'fill-wait' : 'fill-live') : 'fill-muted'}`}>
        {text}
      </text>
    </g>
  );
}

function Phase({ box: { name, role, x, y }, width, height, now }: { box: Box; width: number; height: number; now: boolean }) {
  return (
    <g>
      <rect
        x={x}
        y={y}
        width={width}
        height={height}
        rx={8}
        strokeWidth={now ? 2 : 1}
        className={now ? 'fill-live stroke-live' : 'fill-surface stroke-control'}
      />
      <text x={x + width / 2} y={y + 20} textAnchor="middle" className={`text-label font-semibold ${now ? 'fill-on-live' : 'fill-text'}`}>
        {name}
      </text>
      <text x={x + width / 2} y={y + 37} textAnchor="middle" className={`text-label ${now ? 'fill-on-live' : 'fill-muted'}`}>
        {now ? `turn of ${role}` : role}
      </text>
    </g>
  );
}

function Transitions({ machine, taken, phase }: MachineProps) {
  const roleOf = (phase: string): string => machine.phases.find(({ name }) => name === phase)?.role ?? '—';
  return (
    <div className="overflow-x-auto">
      <table className="mt-1" aria-label="Phases and the ways between them">
        <thead>
          <tr className="text-left text-muted">
            {['From', 'Turn of', 'How', 'To', 'Taken'].map((label) => (
              <th key={label} scope="col" className="pr-4 font-medium">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {machine.transitions.map((transition, index) => (
            <tr key={`${transition.from} ${how(transition)}`}>
              <td className="pr-4">{transition.from === phase ? `${transition.from} (now)` : transition.from}</td>
              <td className="pr-4">{roleOf(transition.from)}</td>
              <td className="pr-4">{how(transition)}</td>
              <td className="pr-4">{transition.to === phase ? `${transition.to} (now)` : transition.to}</td>
              <td className="pr-4">
                {counted(taken[index] ?? 0, 'time')}
                {isBack(machine, transition) && ' (rework)'}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

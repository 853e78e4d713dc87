import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { WorkflowTimeline } from '../../api.ts';
import { useByClock } from '../../live/clock.ts';
import type { Tone } from '../../parts/layout.tsx';
import { type AxisStretch, clockFor, placeOf, rowsOf, stretchesOf, ticksOf } from '../../parts/time-axis.ts';
import { AgentName, counted, dateOf, escapeBidi, UntrustedText } from '../../parts/values.tsx';
import { preferences } from '../../preferences.ts';
import { laneName, SPAN_TONES, SPAN_WORDS, statusWords, type WorkflowState } from './status.ts';
import { Lease } from './task-words.tsx';

type Lane = WorkflowTimeline['lanes'][number];
type Span = Lane['spans'][number];
interface MergedLane extends Lane {
  readonly sessions: number;
}

const TICKS = 6;
const ROW_PX = 26;
const LEAST_PX = 10;
/** How often the bars of running work grow. */
const STEP_MS = 5_000;

interface Axis {
  readonly stretches: readonly AxisStretch[];
  readonly now: number;
}

/** Draws the timeline of a workflow with one lane for each agent. Long idle times are folded. */
export default function Lanes({ timeline, fold }: { timeline: WorkflowTimeline; fold: boolean }) {
  const { turns } = timeline;
  const lanes = useMemo(() => byName(timeline.lanes), [timeline.lanes]);
  const clock = useByClock((time) => Math.floor(time / STEP_MS) * STEP_MS);
  const now = Math.max(clock, timeline.now);
  const stretches = useMemo(
    () =>
      stretchesOf(
        lanes.flatMap(({ spans }) => spans.map(({ from, until }) => ({ from, until: until ?? now }))),
        fold,
      ),
    [lanes, fold, now],
  );
  const axis: Axis = { stretches, now };
  return (
    <div className="panel overflow-hidden">
      <div className="relative grid grid-cols-[7rem_minmax(0,1fr)] sm:grid-cols-[11rem_minmax(0,1fr)]">
        <div className="border-r border-b border-line px-2 py-1 text-label text-muted">Agent</div>
        <Ticks axis={axis} turns={turns} />
        {lanes.map((lane) => (
          <LaneRow key={laneName(lane)} lane={lane} axis={axis} />
        ))}
      </div>
      <p className="flex flex-wrap gap-x-4 border-t border-line px-3 py-1.5 text-label text-muted">
        <span>✕ lease expired</span>
        <span>↻ reclaimed from another agent</span>
        <span>◆ waiting for a person</span>
        {stretches.some(({ folded }) => folded) && <span>⋯ idle time, folded</span>}
      </p>
    </div>
  );
}

/** Merges the lanes of agents with the same name, because an agent registers again in each of its sessions. */
function byName(lanes: readonly Lane[]): MergedLane[] {
  return [...Map.groupBy(lanes, laneName).values()].map((same) => ({
    ...(same.at(-1) as Lane),
    sessions: same.length,
    spans: same.flatMap(({ spans }) => spans).sort((one, other) => one.from - other.from),
  }));
}

const percent = (fraction: number): string => `${(100 * fraction).toFixed(3)}%`;

function Ticks({ axis: { stretches, now }, turns }: { axis: Axis; turns: WorkflowTimeline['turns'] }) {
  const ticks = ticksOf(stretches, TICKS);
  const clock = clockFor(ticks, preferences().utc ? 'UTC' : undefined);
  return (
    <div className="relative h-10 overflow-hidden border-b border-line text-label text-muted">
      {ticks.map((time) => (
        <time
          key={time}
          dateTime={new Date(time).toISOString()}
          title={dateOf(time)}
          className="absolute top-0.5 pl-1"
          style={{ left: percent(placeOf(stretches, time)) }}
        >
          {clock.format(time)}
        </time>
      ))}
      {turns
        .filter(({ time }) => time <= now)
        .map(({ time, to, reason }) => (
          <span
            key={`${time} ${to}`}
            title={`${statusWords(to as WorkflowState)} ${dateOf(time)}${reason ? `: ${escapeBidi(reason)}` : ''}`}
            className="absolute bottom-0 border-l-2 border-control pl-1 whitespace-nowrap"
            style={{ left: percent(Math.min(0.97, placeOf(stretches, time))) }}
          >
            {statusWords(to as WorkflowState)}
          </span>
        ))}
    </div>
  );
}

function LaneRow({ lane, axis }: { lane: MergedLane; axis: Axis }) {
  const rows = useMemo(() => rowsOf(lane.spans.map(({ from, until }) => ({ from, until: until ?? Number.POSITIVE_INFINITY }))), [lane.spans]);
  const works = lane.spans.some(({ end }) => end === 'open');
  return (
    <>
      <div className="min-w-0 border-r border-line px-2 py-1 [&:not(:nth-last-child(2))]:border-b">
        <AgentName name={laneName(lane)} id={lane.agent_page} />
        {lane.sessions > 1 && <p className="text-label text-muted max-sm:hidden">{counted(lane.sessions, 'session')}</p>}
        {works && lane.lease_expires_at !== null && (
          <p className="text-label text-muted">
            <Lease at={lane.lease_expires_at} />
          </p>
        )}
      </div>
      <ol
        aria-label={`Tasks of ${escapeBidi(laneName(lane))}`}
        className="relative border-line [&:not(:last-child)]:border-b"
        style={{ minHeight: Math.max(44, (Math.max(...rows) + 1) * ROW_PX + 8) }}
      >
        <Gaps stretches={axis.stretches} />
        {lane.spans.map((span, at) => (
          <Bar key={`${span.task_id} ${span.from}`} span={span} row={rows[at] as number} axis={axis} />
        ))}
      </ol>
    </>
  );
}

function Gaps({ stretches }: { stretches: readonly AxisStretch[] }): ReactNode {
  return stretches
    .filter(({ idle }) => idle)
    .map(({ from, until, start, end, folded }) => (
      <li
        key={from}
        aria-hidden="true"
        title={`Idle from ${dateOf(from)} to ${dateOf(until)}`}
        className="absolute inset-y-0 grid place-items-center overflow-hidden bg-surface text-muted"
        style={{ left: percent(start), width: percent(end - start) }}
      >
        {folded && '⋯'}
      </li>
    ));
}

/** The class names are written in full, because Tailwind does not find names that are put together at run time. */
const BARS: Record<Tone, string> = {
  quiet: 'bg-quiet-tint text-quiet border-quiet',
  live: 'bg-live-tint text-live border-live',
  good: 'bg-good-tint text-good border-good',
  wait: 'bg-wait-tint text-wait border-wait',
  bad: 'bg-bad-tint text-bad border-bad',
  you: 'bg-you-tint text-you border-you',
};

function Bar({ span, row, axis: { stretches, now } }: { span: Span; row: number; axis: Axis }) {
  const until = span.until ?? now;
  const [start, end] = [placeOf(stretches, span.from), placeOf(stretches, until)];
  const marks = `${span.reclaimed ? '↻ ' : ''}${span.waits.length > 0 ? '◆ ' : ''}`;
  const words = `${escapeBidi(span.task_name)}: ${SPAN_WORDS[span.end]}${span.reclaimed ? ', reclaimed' : ''}, ${dateOf(span.from)} to ${span.until === null ? 'now' : dateOf(span.until)}`;
  return (
    <li
      className="absolute"
      style={{
        left: `min(${percent(start)}, 100% - ${LEAST_PX}px)`,
        width: percent(end - start),
        minWidth: LEAST_PX,
        top: row * ROW_PX + 4,
        height: ROW_PX - 4,
      }}
    >
      <Link
        to="."
        search={(search) => ({ ...search, task: span.task_id })}
        resetScroll={false}
        title={words}
        aria-label={words}
        className={`relative flex h-full items-center gap-1 overflow-hidden rounded border px-1 text-label whitespace-nowrap hover:brightness-95 ${BARS[SPAN_TONES[span.end]]} ${span.end === 'lost' ? 'border-r-4' : ''}`}
      >
        {span.waits.map((wait) => (
          <Wait key={wait.from} from={wait.from} until={wait.until ?? until} span={{ from: span.from, until }} stretches={stretches} />
        ))}
        <UntrustedText text={`${marks}${span.task_name}`} brief="line" className="relative min-w-0" />
        {span.end === 'lost' && <span className="relative ml-auto">✕</span>}
      </Link>
    </li>
  );
}

function Wait({ from, until, span, stretches }: { from: number; until: number; span: { from: number; until: number }; stretches: readonly AxisStretch[] }) {
  const [start, end] = [placeOf(stretches, span.from), placeOf(stretches, span.until)];
  const width = Math.max(1e-9, end - start);
  const left = (placeOf(stretches, from) - start) / width;
  return (
    <span
      aria-hidden="true"
      className="absolute inset-y-0 bg-you-tint"
      style={{ left: percent(left), width: percent((placeOf(stretches, until) - start) / width - left) }}
    />
  );
}

import type { Lane, LaneSpan } from '../../api.ts';
import { EmptyState, Section } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { clockFor, hoursBetween, rowsOf } from '../../parts/time-axis.ts';
import { TwinTable } from '../../parts/twin-table.tsx';
import { AgentName, escapeBidi, PathLink, Time, UntrustedText } from '../../parts/values.tsx';
import { preferences } from '../../preferences.ts';
import { useRead } from '../../queries.ts';

/** The chart polls, because the bars of running work grow even if no event arrives. */
const POLL_MS = 60_000;
const HOURS = 12;
const LINE_PX = 10;
/** The maximum number of rows of bars in one lane, so that a busy lane does not become too high. */
const MAX_LINES = 6;
const BAR_PX = 7;
/** The minimum width of a bar, because a narrower one would be invisible. */
const LEAST_PERCENT = 0.4;

interface Window {
  readonly from: number;
  readonly to: number;
}

/** A chart of the work that agents held in the last hours, with one lane for each agent. */
export function AgentLanes() {
  const query = useRead('agents.lanes', { hours: HOURS }, { pollMs: POLL_MS });
  return (
    <Section title={`Last ${HOURS} hours`} about={query.data?.cut && 'newest only'}>
      <Loaded query={query} what="The timeline">
        {({ lanes, from, to }) =>
          lanes.length === 0 ? (
            <div className="panel">
              <EmptyState>No agent has held work in the last {HOURS} hours. Tasks, steps and reviews appear here as bars.</EmptyState>
            </div>
          ) : (
            <figure className="panel grid gap-2 p-3">
              <figcaption className="flex flex-wrap gap-x-4 text-label text-muted">
                <Key look="bg-live">held</Key>
                <Key look="bg-good">done</Key>
                <Key look="bg-quiet opacity-60">released</Key>
                <Key look="bg-bad">failed or lost</Key>
              </figcaption>
              <div className="grid grid-cols-[minmax(6rem,10rem)_minmax(0,1fr)] items-center gap-x-3 gap-y-1.5">
                {lanes.map((lane) => (
                  <LaneRow key={lane.agent_id ?? lane.name} lane={lane} within={{ from, to }} />
                ))}
                <span />
                <Axis from={from} to={to} />
              </div>
              <TwinTable
                title={`Last ${HOURS} hours`}
                label={`Work of agents in the last ${HOURS} hours`}
                heads={['Agent', 'Work', 'From', 'To', 'End']}
                rows={lanes.flatMap(({ name, spans }) => spans.map((span) => ({ key: `${name} ${span.id} ${span.from}`, cells: cellsOf(name, span) })))}
              />
            </figure>
          )
        }
      </Loaded>
    </Section>
  );
}

function Key({ look, children }: { look: string; children: string }) {
  return (
    <span className="flex items-center gap-1.5">
      <span aria-hidden="true" className={`size-2.5 rounded-xs ${look}`} />
      {children}
    </span>
  );
}

const FILLS: Record<LaneSpan['end'], string> = {
  held: 'fill-live',
  done: 'fill-good',
  released: 'fill-quiet opacity-60',
  failed: 'fill-bad',
  lost: 'fill-live',
};

function LaneRow({ lane, within }: { lane: Lane; within: Window }) {
  const lines = rowsOf(
    lane.spans.map(({ from, to }) => ({ from, until: to ?? within.to })),
    MAX_LINES,
  );
  const height = (Math.max(...lines) + 1) * LINE_PX;
  const percent = (time: number): number => ((Math.min(within.to, Math.max(within.from, time)) - within.from) / (within.to - within.from)) * 100;
  return (
    <>
      <span className="min-w-0 truncate">
        <AgentName name={lane.name} id={lane.agent_id} />
      </span>
      <svg aria-hidden="true" width="100%" height={height} className="overflow-visible rounded-sm bg-surface">
        {lane.spans.map((span, index) => {
          const [begin, end] = [percent(span.from), percent(span.to ?? within.to)];
          const y = (lines[index] ?? 0) * LINE_PX + (LINE_PX - BAR_PX) / 2;
          return (
            <g key={`${span.id} ${span.from}`}>
              <title>{`${escapeBidi(span.title)}: ${endWords(span)}`}</title>
              <rect x={`${begin}%`} y={y} width={`${Math.max(LEAST_PERCENT, end - begin)}%`} height={BAR_PX} rx="2" className={FILLS[span.end]} />
              {span.end === 'lost' && <rect x={`${end}%`} y={y - 2} width="4" height={BAR_PX + 4} className="fill-bad" />}
            </g>
          );
        })}
      </svg>
    </>
  );
}

function Axis({ from, to }: Window) {
  const hours = hoursBetween(from, to);
  const clock = clockFor(hours, preferences().utc ? 'UTC' : undefined);
  return (
    <div aria-hidden="true" className="relative h-4 text-label text-muted">
      {hours.map((hour) => (
        <span key={hour} className="absolute -translate-x-1/2 max-sm:nth-[even]:hidden" style={{ left: `${((hour - from) / (to - from)) * 100}%` }}>
          {clock.format(hour)}
        </span>
      ))}
    </div>
  );
}

const WORDS: Record<LaneSpan['end'], string> = { held: 'held now', done: 'done', released: 'released', failed: 'failed', lost: 'lost' };
const endWords = ({ end, reason }: LaneSpan): string => (reason === null ? WORDS[end] : `${WORDS[end]}, ${reason}`);

const cellsOf = (agent: string, span: LaneSpan) => [
  <UntrustedText key="agent" text={agent} brief />,
  <PathLink key="work" path={span.path}>
    <UntrustedText text={span.title} brief />
  </PathLink>,
  <Time key="from" at={span.from} />,
  span.to === null ? '—' : <Time key="to" at={span.to} />,
  endWords(span),
];

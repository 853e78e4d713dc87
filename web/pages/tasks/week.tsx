import type { ReactNode } from 'react';
import type { Note, Summary, Work } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Filter } from '../../parts/filter.tsx';
import { EmptyState, Problem, Section, State } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/loaded.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { counted, PathLink, shortId, Time, UntrustedText, workerOf } from '../../parts/values.tsx';
import { useAct } from '../../queries.ts';
import { WEEK_SPANS } from '../../search.ts';
import { STATUS_TONES } from './status.ts';

const CHOICES = WEEK_SPANS.map((days) => [String(days), `Last ${days} days`] as const);

/** The page with a summary of the team's work in the last days, which people can copy. */
export function Week() {
  const [{ days }, change] = usePageSearch('/tasks/week');
  const generate = useAct('team.weekly_summary');
  const summary = generate.data?.data;
  const choose = (choice: string | undefined): void => {
    generate.reset();
    void change({ days: WEEK_SPANS.find((span) => String(span) === choice) });
  };
  return (
    <>
      <title>Week · Covenant</title>
      <Section
        title="Summary"
        about={
          <span className="flex flex-wrap items-center gap-2 text-text">
            <Filter label="Period" otherwise="Last 7 days" choices={CHOICES} chosen={days ? String(days) : undefined} onChoose={choose} />
            {summary && <CopyButton text={summary.markdown} label="Copy as Markdown" />}
            <ActButton look="primary" pending={generate.isPending} onClick={() => generate.mutate({ days })}>
              Generate
            </ActButton>
          </span>
        }
      >
        {generate.error && <Problem what="The summary was not generated." error={generate.error} />}
        {generate.isPending && (
          <div className="panel">
            <TableSkeleton />
          </div>
        )}
        {generate.isIdle && (
          <div className="panel">
            <EmptyState>Generate a summary of completed, active and planned work, blockers and decisions of the last {days ?? 7} days.</EmptyState>
          </div>
        )}
        {summary && <WeekSummary summary={summary} />}
      </Section>
    </>
  );
}

const DAYS = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

/** How many lines of a list are shown. The other lines are folded. */
const FIRST = 10;
/** The maximum number of items of each kind that the server returns. */
const MAX_ITEMS = 200;

interface Line {
  id: string;
  title: string;
  by: string;
  details?: string | null;
  mark?: ReactNode;
  time: number;
}

export function WeekSummary({ summary }: { summary: Summary }) {
  return (
    <div className="grid gap-4">
      <p role="status" className="text-muted">
        {DAYS.formatRange(summary.from, summary.to)}
      </p>
      <div className="gap-4 lg:columns-2">
        {partsOf(summary).map(({ title, unit, lines }) => (
          <Part key={title} title={title} unit={unit} lines={lines} />
        ))}
      </div>
    </div>
  );
}

function Part({ title, unit, lines }: { title: string; unit: readonly [string, string?]; lines: readonly Line[] }) {
  return (
    <section aria-label={title} className="panel mb-4 break-inside-avoid">
      <h3 className="flex items-baseline justify-between gap-2 border-b border-line px-3 py-1.5 font-semibold">
        {title}
        <span className="font-normal text-muted">
          {lines.length >= MAX_ITEMS && 'last '}
          {counted(lines.length, ...unit)}
        </span>
      </h3>
      {lines.length === 0 ? (
        <p className="px-3 py-2 text-muted">None</p>
      ) : (
        <>
          <Lines lines={lines.slice(0, FIRST)} />
          {lines.length > FIRST && (
            <details className="border-t border-line">
              <summary className="cursor-pointer px-3 py-1.5 text-muted">{lines.length - FIRST} more</summary>
              <Lines lines={lines.slice(FIRST)} />
            </details>
          )}
        </>
      )}
    </section>
  );
}

function Lines({ lines }: { lines: readonly Line[] }) {
  return (
    <ul className="divide-y divide-line">
      {lines.map(({ id, title, by, details, mark, time }) => (
        <li key={`${id} ${time} ${by}`} className="grid gap-0.5 px-3 py-1.5">
          <p>
            <PathLink path={pathOf(id)}>
              <UntrustedText text={title} brief />
            </PathLink>
          </p>
          <p className="flex flex-wrap items-center gap-x-2 text-muted">
            {mark}
            <UntrustedText text={by} />
            <span className="ml-auto">
              <Time at={time} />
            </span>
          </p>
          {details && (
            <p className="text-muted">
              <UntrustedText text={details} brief />
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Returns the address of a task or overlap, or null for other objects. */
const pathOf = (id: string): string | null => (id.startsWith('task_') ? `/tasks?task=${id}` : id.startsWith('warn_') ? `/tasks/overlaps?warning=${id}` : null);

function partsOf(summary: Summary): { title: string; unit: readonly [string, string?]; lines: Line[] }[] {
  return [
    {
      title: 'Completed',
      unit: ['work item'],
      lines: summary.completed.map(({ id, title, owner, result_summary, time }) => ({ id, title, by: owner, details: result_summary, time })),
    },
    { title: 'Active', unit: ['task'], lines: summary.active.map(workLine) },
    { title: 'Planned', unit: ['task'], lines: summary.planned.map(workLine) },
    { title: 'Blockers', unit: ['blocker'], lines: summary.blockers.map(noteLine) },
    { title: 'Decisions', unit: ['decision'], lines: summary.decisions.map(noteLine) },
    {
      title: 'Overlaps',
      unit: ['event'],
      lines: summary.overlap_warnings.map(({ id, title, owner, outcome, time }) => ({
        id,
        title: title ?? shortId(id),
        by: `${owner} · ${outcome}`,
        time,
      })),
    },
    {
      title: 'Audits',
      unit: ['audit'],
      lines: summary.parallel_audits.map(({ id, owner, compared, conflicts, time }) => ({
        id,
        title: `${counted(compared, 'work item')} compared, ${counted(conflicts, 'conflict')}`,
        by: owner,
        time,
      })),
    },
    {
      title: 'Agent sessions',
      unit: ['session'],
      lines: summary.agent_sessions.map(({ session_id, developer, agent_name, agent_type, state, last_activity, last_seen_at }) => ({
        id: session_id,
        title: last_activity ?? 'No activity reported',
        by: `${workerOf(developer, agent_name ?? agent_type ?? 'agent')} · ${state}`,
        time: last_seen_at,
      })),
    },
  ];
}

const workLine = ({ task_id, title, owner, agent, status, updated_at }: Work): Line => ({
  id: task_id,
  title,
  by: workerOf(owner, agent),
  mark: <State tone={STATUS_TONES[status]}>{status}</State>,
  time: updated_at,
});

const noteLine = ({ note_id, title, body, developer, created_at }: Note): Line => ({ id: note_id, title, by: developer, details: body, time: created_at });

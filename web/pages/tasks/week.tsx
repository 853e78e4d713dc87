import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ActButton } from '../../parts/act-button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Nothing, Section } from '../../parts/section.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { useAct } from '../../queries.ts';
import { WEEK_SPANS } from '../../search.ts';
import { WeekSummary } from './week-summary.tsx';

const route = getRouteApi('/tasks/week');
const CHOICES = WEEK_SPANS.map((days) => [String(days), `Last ${days} days`] as const);

/** What the team did, to read and to pass on. */
export function Week() {
  const { days } = route.useSearch();
  const navigate = useNavigate();
  const generate = useAct('team.weekly_summary');
  const summary = generate.data?.data;
  const choose = (choice: string | undefined): void => {
    generate.reset();
    const chosen = WEEK_SPANS.find((span) => String(span) === choice);
    void navigate({ to: '/tasks/week', search: chosen ? { days: chosen } : {} });
  };
  return (
    <>
      <title>Week · Covenant</title>
      <Section
        title="Summary"
        about={
          <span className="flex flex-wrap items-center gap-2 text-text">
            <Filter label="Time" otherwise="Last 7 days" choices={CHOICES} chosen={days ? String(days) : undefined} onChoose={choose} />
            {summary && <CopyButton text={summary.markdown} label="Copy as Markdown" />}
            <ActButton look="primary" pending={generate.isPending} onClick={() => generate.mutate(days ? { days } : {})}>
              Generate
            </ActButton>
          </span>
        }
      >
        {generate.error && <Problem what="The week was not summarised." error={generate.error} />}
        {generate.isPending && (
          <div className="panel">
            <TableSkeleton />
          </div>
        )}
        {generate.isIdle && (
          <div className="panel">
            <Nothing>What was completed, planned, decided and blocked in the last {days ?? 7} days, from what is on record.</Nothing>
          </div>
        )}
        {summary && <WeekSummary summary={summary} />}
      </Section>
    </>
  );
}

import { ActButton } from '../../parts/act-button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Nothing, Section } from '../../parts/section.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { useAct } from '../../queries.ts';
import { Audit } from './audit.tsx';
import { WeekSummary } from './week-summary.tsx';

/** What the team did, to read and to pass on. */
export function Week() {
  const generate = useAct('team.weekly_summary');
  const summary = generate.data?.data;
  return (
    <div className="grid gap-8">
      <title>Week · Covenant</title>
      <Section
        title="Summary"
        about={
          <span className="flex flex-wrap gap-2 text-text">
            {summary && <CopyButton text={summary.markdown} label="Copy as Markdown" />}
            <ActButton look="primary" pending={generate.isPending} onClick={() => generate.mutate({})}>
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
            <Nothing>What was completed, planned, decided and blocked in the last seven days, from what is on record.</Nothing>
          </div>
        )}
        {summary && <WeekSummary summary={summary} />}
      </Section>
      <Audit />
    </div>
  );
}

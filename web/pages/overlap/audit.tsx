import { useEffect, useRef } from 'react';
import type { Conflict } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { EmptyState, Notice, Problem, Section, State, type Tone } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/loaded.tsx';
import { counted, Time, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { Pair } from './pair.tsx';

const KINDS: Record<Conflict['kind'], { words: string; tone: Tone }> = {
  running: { words: 'both under way', tone: 'wait' },
  repeats_completed: { words: 'repeats finished work', tone: 'wait' },
  historical: { words: 'both finished', tone: 'quiet' },
};

/** An audit compares each piece of work that is running or was finished lately with every other. */
export function Audit({ onClose }: { onClose: () => void }) {
  const run = useAct('team.audit');
  const latest = useRead('team.latest_audit', {});
  const answer = run.data;
  const section = useRef<HTMLDivElement>(null);
  // The person who opened the audit continues here.
  useEffect(() => section.current?.querySelector('button')?.focus(), []);
  return (
    <div ref={section}>
      <Section
        title="Parallel work"
        about={
          <span className="flex flex-wrap gap-2 text-text">
            <ActButton look="primary" pending={run.isPending} onClick={() => run.mutate({})}>
              Run audit
            </ActButton>
            <button type="button" className="button" onClick={onClose}>
              Close
            </button>
          </span>
        }
      >
        {run.error && <Problem what="The audit was not run." error={run.error} />}
        {latest.error && <Problem what="The latest audit could not be read." error={latest.error} onRetry={() => void latest.refetch()} />}
        {(run.isPending || latest.isPending) && (
          <div className="panel">
            <TableSkeleton />
          </div>
        )}
        {latest.data && !answer && <Latest audit={latest.data.audit} openConflicts={latest.data.conflicts.length} />}
        {answer && (
          <Notice tone={answer.status === 'ok' ? 'good' : 'wait'} role="status">
            {answer.message}
            {answer.status !== 'ok' && ` ${counted(answer.data.compared, 'piece of work was', 'pieces of work were')} compared.`}
            {answer.data.left_out > 0 && ` ${counted(answer.data.left_out, 'older one was', 'older ones were')} left out.`}
          </Notice>
        )}
        {!run.isPending && <Conflicts conflicts={answer?.data.conflicts ?? latest.data?.conflicts ?? []} />}
      </Section>
    </div>
  );
}

type LatestAudit = NonNullable<ReturnType<typeof useRead<'team.latest_audit'>>['data']>['audit'];

function Latest({ audit, openConflicts }: { audit: LatestAudit; openConflicts: number }) {
  if (!audit) {
    return (
      <div className="panel">
        <EmptyState>An audit compares all work that is under way or was finished lately, and names what looks like the same work. None was run yet.</EmptyState>
      </div>
    );
  }
  return (
    <Notice tone={openConflicts > 0 ? 'wait' : 'good'}>
      The latest audit compared {counted(audit.compared, 'piece of work', 'pieces of work')} and found {counted(audit.conflicts, 'conflict')}, of which{' '}
      {openConflicts.toLocaleString()} {openConflicts === 1 ? 'stands' : 'stand'}. Run by <UntrustedText text={audit.developer} /> ·{' '}
      <Time at={audit.created_at} />
    </Notice>
  );
}

function Conflicts({ conflicts }: { conflicts: readonly Conflict[] }) {
  const settings = useRead('overlap.list', { limit: 1 }).data?.settings;
  return (
    <ul className="grid gap-4 lg:grid-cols-2">
      {conflicts.map(({ kind, first, second, score, reason }) => (
        <li key={`${first.id} ${second.id}`}>
          <Pair first={{ heading: 'One', ...first }} second={{ heading: 'The other', ...second }} score={score} settings={settings} reason={reason}>
            <p>
              <State tone={KINDS[kind].tone}>{KINDS[kind].words}</State>
            </p>
          </Pair>
        </li>
      ))}
    </ul>
  );
}

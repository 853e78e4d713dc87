import { useEffect, useRef } from 'react';
import type { Conflict } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { EmptyState, Notice, Problem, Section, State, type Tone } from '../../parts/layout.tsx';
import { TableSkeleton } from '../../parts/loaded.tsx';
import { counted, Time, UntrustedText } from '../../parts/values.tsx';
import { useAct, useRead } from '../../queries.ts';
import { Pair } from './pair.tsx';

const KINDS: Record<Conflict['kind'], { words: string; tone: Tone }> = {
  running: { words: 'both active', tone: 'wait' },
  repeats_completed: { words: 'repeats completed work', tone: 'wait' },
  historical: { words: 'both completed', tone: 'quiet' },
};

/** Shows the latest audit and starts a new one. An audit compares each pair of active and recently completed work items. */
export function Audit({ onClose }: { onClose: () => void }) {
  const run = useAct('team.audit');
  const latest = useRead('team.latest_audit', {});
  const answer = run.data;
  const section = useRef<HTMLDivElement>(null);
  // Move the focus into the section that the person has just opened.
  useEffect(() => section.current?.querySelector('button')?.focus(), []);
  return (
    <div ref={section}>
      <Section
        title="Audit"
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
        {run.error && <Problem what="The audit failed." error={run.error} />}
        {latest.error && <Problem what="The latest audit could not be loaded." error={latest.error} onRetry={() => void latest.refetch()} />}
        {(run.isPending || latest.isPending) && (
          <div className="panel">
            <TableSkeleton />
          </div>
        )}
        {latest.data && !answer && <Latest audit={latest.data.audit} openConflicts={latest.data.conflicts.length} />}
        {answer && (
          <Notice tone={answer.status === 'ok' ? 'good' : 'wait'} role="status">
            {answer.message}
            {answer.status !== 'ok' && ` Compared: ${counted(answer.data.compared, 'work item')}.`}
            {answer.data.left_out > 0 && ` Left out: ${counted(answer.data.left_out, 'older work item')}.`}
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
        <EmptyState>No audit yet. An audit compares all active and recently completed work and lists pairs that look like the same work.</EmptyState>
      </div>
    );
  }
  return (
    <Notice tone={openConflicts > 0 ? 'wait' : 'good'}>
      Latest audit: {counted(audit.compared, 'work item')} compared, {counted(audit.conflicts, 'conflict')} found, {openConflicts.toLocaleString()} still open.
      Run by <UntrustedText text={audit.developer} /> · <Time at={audit.created_at} />
    </Notice>
  );
}

function Conflicts({ conflicts }: { conflicts: readonly Conflict[] }) {
  const settings = useRead('overlap.list', { limit: 1 }).data?.settings;
  return (
    <ul className="grid gap-4 lg:grid-cols-2">
      {conflicts.map(({ kind, first, second, score, reason }) => (
        <li key={`${first.id} ${second.id}`}>
          <Pair first={{ heading: 'First', ...first }} second={{ heading: 'Second', ...second }} score={score} settings={settings} reason={reason}>
            <p>
              <State tone={KINDS[kind].tone}>{KINDS[kind].words}</State>
            </p>
          </Pair>
        </li>
      ))}
    </ul>
  );
}

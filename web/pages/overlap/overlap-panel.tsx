import { useState } from 'react';
import type { Match, Overlap, Thresholds } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { counted } from '../../parts/count.ts';
import { Id, shortId } from '../../parts/id.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { DismissOverlap } from './dismiss-overlap.tsx';
import { Pair } from './pair.tsx';
import { JudgedBy, Level, Verdict } from './verdict.tsx';

interface OverlapPanelProps {
  /** Its id, or the end of it. */
  id: string;
  /** As the list has it, until it is read by itself. */
  listed: Overlap | undefined;
  settings: Thresholds | undefined;
  onClose: () => void;
}

export function OverlapPanel({ id, listed, settings: known, onClose }: OverlapPanelProps) {
  const { data, error, refetch } = useRead('overlap.show', { warning_id: id });
  const [dismissing, setDismissing] = useState(false);
  const overlap = data?.overlap ?? listed;
  const settings = data?.settings ?? known;
  if (!overlap) {
    return (
      <SidePanel title={shortId(id)} onClose={onClose}>
        {error ? <Problem what="The overlap could not be read." error={error} onRetry={() => void refetch()} /> : <TableSkeleton />}
      </SidePanel>
    );
  }
  return (
    <SidePanel title={overlap.title} onClose={onClose}>
      {error && <Problem what="The overlap could not be read again." error={error} onRetry={() => void refetch()} />}
      <Facts>
        <Fact name="Level">
          <Level level={overlap.level} />
        </Fact>
        <Fact name="Verdict">
          <Verdict overlap={overlap} />
        </Fact>
        <Fact name="Judged by">
          <JudgedBy overlap={overlap} />
        </Fact>
        <Fact name="Reason given">{overlap.reason && <Said text={overlap.reason} />}</Fact>
        <Fact name="Developer">
          <Said text={overlap.developer} />
        </Fact>
        <Fact name="Found">
          <Time at={overlap.created_at} />
        </Fact>
        <Fact name="Resolved">{overlap.resolved_at && <Time at={overlap.resolved_at} />}</Fact>
        <Fact name="Warning">
          <Id id={overlap.warning_id} />
        </Fact>
      </Facts>
      {overlap.status === 'open' && (
        <div>
          <ActButton needs={overlap.mine ? 'member' : 'operator'} onClick={() => setDismissing(true)}>
            Dismiss
          </ActButton>
        </div>
      )}
      <div className="grid gap-3">
        <h3 className="text-muted">{counted(overlap.matches.length, 'match', 'matches')}, side by side</h3>
        {overlap.matches.map((match) => (
          <Pair
            key={match.id}
            first={{
              heading: overlap.kind === 'task' ? 'This task' : 'This workstream',
              title: overlap.title,
              owner: overlap.developer,
              id: overlap.subject_id,
            }}
            second={{ heading: HEADINGS[match.type], ...match }}
            files={match.file_overlap}
            score={match.score}
            settings={settings}
            reason={match.reason}
          >
            <Judged judgement={overlap.judgements.find(({ id: judged }) => judged === match.id)} level={match.level} status={overlap.status} />
          </Pair>
        ))}
      </div>
      {dismissing && <DismissOverlap overlap={overlap} onClose={() => setDismissing(false)} />}
    </SidePanel>
  );
}

const HEADINGS: Record<Match['type'], string> = { task: 'Task', workstream: 'Workstream', workflow_task: 'Workflow task' };

interface JudgedProps {
  judgement: Overlap['judgements'][number] | undefined;
  level: Match['level'];
  status: Overlap['status'];
}

function Judged({ judgement, level, status }: JudgedProps) {
  if (judgement) {
    return (
      <p className="flex flex-wrap items-baseline gap-2">
        <State tone={judgement.same_scope ? 'wait' : 'good'}>{judgement.same_scope ? 'same work' : 'other work'}</State>
        <Said text={judgement.reason} />
      </p>
    );
  }
  const words = status === 'open' ? 'Nobody has judged this pair.' : 'This pair was not judged by itself.';
  return <p className="text-muted">{level === 'escalated' ? words : 'A warning only: nobody has to judge it.'}</p>;
}

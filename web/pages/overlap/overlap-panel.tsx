import type { Match, Overlap, Thresholds } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { Said } from '../../parts/said.tsx';
import { Fact, Facts, SidePanel } from '../../parts/side-panel.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { Pair } from './pair.tsx';
import { Level, Verdict } from './verdict.tsx';

interface OverlapPanelProps {
  id: string;
  /** Missing where the list does not hold it. */
  overlap: Overlap | undefined;
  settings: Thresholds | undefined;
  onClose: () => void;
}

export function OverlapPanel({ id, overlap, settings, onClose }: OverlapPanelProps) {
  if (!overlap) {
    return (
      <SidePanel title="Not in this list" onClose={onClose}>
        <p>
          <Id id={id} /> is not among the overlaps that are listed. It may be resolved, or older than these.
        </p>
      </SidePanel>
    );
  }
  return (
    <SidePanel title={overlap.title} onClose={onClose}>
      <Facts>
        <Fact name="Level">
          <Level level={overlap.level} />
        </Fact>
        <Fact name="Verdict">
          <Verdict overlap={overlap} />
        </Fact>
        <Fact name="Developer">
          <Said text={overlap.developer} />
        </Fact>
        <Fact name="Reason given">{overlap.reason && <Said text={overlap.reason} />}</Fact>
        <Fact name="Found">
          <Time at={overlap.created_at} />
        </Fact>
        <Fact name="Resolved">{overlap.resolved_at && <Time at={overlap.resolved_at} />}</Fact>
        <Fact name="Warning">
          <Id id={overlap.warning_id} />
        </Fact>
      </Facts>
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
            <Judged judgement={overlap.judgements.find(({ id: judged }) => judged === match.id)} level={match.level} />
          </Pair>
        ))}
      </div>
    </SidePanel>
  );
}

const HEADINGS: Record<Match['type'], string> = { task: 'Task', workstream: 'Workstream', workflow_task: 'Workflow task' };

function Judged({ judgement, level }: { judgement: Overlap['judgements'][number] | undefined; level: Match['level'] }) {
  if (!judgement)
    return <p className="text-muted">{level === 'escalated' ? 'Nobody has judged this pair.' : 'Below the threshold: nobody has to judge it.'}</p>;
  return (
    <p className="flex flex-wrap items-baseline gap-2">
      <State tone={judgement.same_scope ? 'wait' : 'good'}>{judgement.same_scope ? 'same work' : 'other work'}</State>
      <Said text={judgement.reason} />
    </p>
  );
}

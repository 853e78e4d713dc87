import type { Conflict } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { Nothing, Section } from '../../parts/section.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Notice, State, type Tone } from '../../parts/tone.tsx';
import { useAct, useRead } from '../../queries.ts';
import { Pair } from '../overlap/pair.tsx';

/** All of them: the compiler sees to it. */
const KINDS: Record<Conflict['kind'], { words: string; tone: Tone }> = {
  running: { words: 'both under way', tone: 'wait' },
  repeats_completed: { words: 'repeats finished work', tone: 'wait' },
  historical: { words: 'both finished', tone: 'quiet' },
};

/** All that is running and was finished lately, each compared with each. */
export function Audit() {
  const audit = useAct('team.audit');
  const settings = useRead('overlap.list', { limit: 1 }).data?.settings;
  const answer = audit.data;
  return (
    <Section
      title="Parallel work"
      about={
        <span className="text-text">
          <ActButton pending={audit.isPending} onClick={() => audit.mutate({})}>
            Run audit
          </ActButton>
        </span>
      }
    >
      {audit.error && <Problem what="The audit was not run." error={audit.error} />}
      {audit.isPending && (
        <div className="panel">
          <TableSkeleton />
        </div>
      )}
      {audit.isIdle && (
        <div className="panel">
          <Nothing>An audit compares all work that is under way or was finished lately, and names what looks like the same work.</Nothing>
        </div>
      )}
      {answer && (
        <>
          <Notice tone={answer.status === 'ok' ? 'good' : 'wait'} role="status">
            {answer.message} {counted(answer.data.compared, 'piece of work was', 'pieces of work were')} compared
            {answer.data.left_out > 0 && `, ${answer.data.left_out} left out`}.
          </Notice>
          <ul className="grid gap-4 lg:grid-cols-2">
            {answer.data.conflicts.map(({ kind, first, second, score, reason }) => (
              <li key={`${first.id} ${second.id}`}>
                <Pair first={{ heading: 'One', ...first }} second={{ heading: 'The other', ...second }} score={score} settings={settings} reason={reason}>
                  <p>
                    <State tone={KINDS[kind].tone}>{KINDS[kind].words}</State>
                  </p>
                </Pair>
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

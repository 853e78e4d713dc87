import type { TeamState } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Said } from '../../parts/said.tsx';
import { Nothing, Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';

interface Happened {
  id: string;
  kind: keyof typeof TONES;
  title: string;
  details: string | null;
  by: string;
  time: number;
}

const TONES = { completed: 'good', decision: 'quiet', blocker: 'wait' } as const satisfies Record<string, Tone>;
const UNITS: Record<Happened['kind'], string> = { completed: 'completion', decision: 'decision', blocker: 'blocker' };

/** What was finished, decided or found in the way in the last two weeks, newest first. */
export function Since({ state }: { state: TeamState }) {
  const happened = happenedIn(state);
  return (
    <Section title="Since two weeks ago" about={countsOf(happened)}>
      {happened.length === 0 ? (
        <div className="panel">
          <Nothing>Nothing was finished, decided or blocked.</Nothing>
        </div>
      ) : (
        <ul className="panel divide-y divide-line">
          {happened.map(({ id, kind, title, details, by, time }) => (
            <li key={id} className="grid gap-1 px-3 py-2">
              <p className="flex flex-wrap items-center gap-x-2 text-muted">
                <State tone={TONES[kind]}>{kind}</State>
                <Said text={by} />
                <span className="ml-auto">
                  <Time at={time} />
                </span>
              </p>
              <p className="font-medium">
                <Said text={title} brief />
              </p>
              {details && (
                <p className="text-muted">
                  <Said text={details} brief />
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const countsOf = (happened: readonly Happened[]): string =>
  Object.entries(UNITS)
    .map(([kind, unit]) => [happened.filter((each) => each.kind === kind).length, unit] as const)
    .flatMap(([count, unit]) => (count > 0 ? [counted(count, unit)] : []))
    .join(', ');

function happenedIn({ recentCompletions, risksDecisions }: TeamState): Happened[] {
  const completed = recentCompletions.map(({ task_id, title, result_summary, owner, updated_at }) => ({
    id: task_id,
    kind: 'completed' as const,
    title,
    details: result_summary,
    by: owner,
    time: updated_at,
  }));
  const noted = risksDecisions.map(({ note_id, kind, title, body, developer, created_at }) => ({
    id: note_id,
    kind,
    title,
    details: body,
    by: developer,
    time: created_at,
  }));
  return [...completed, ...noted].sort((a, b) => b.time - a.time);
}

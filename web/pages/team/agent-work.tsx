import type { ShownAgent } from '../../api.ts';
import { AgentName } from '../../parts/agent-name.tsx';
import { counted } from '../../parts/count.ts';
import { PathLink } from '../../parts/path-link.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { EmptyState, Section } from '../../parts/section.tsx';
import { dateOf, Time } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';

type Work = ShownAgent['work'][number];

/** All of them: the compiler sees to it. */
const ENDS: Record<Work['end'], { tone: Tone; words: string }> = {
  held: { tone: 'live', words: 'held' },
  done: { tone: 'good', words: 'done' },
  failed: { tone: 'bad', words: 'failed' },
  released: { tone: 'quiet', words: 'given back' },
  lost: { tone: 'bad', words: 'lost' },
};

/** What it had in hand in the last day: where it stopped, and who went on. */
export function AgentWork({ work }: { work: readonly Work[] }) {
  return (
    <Section title="In the last 24 hours" about={work.length > 0 && counted(work.length, 'piece of work', 'pieces of work')}>
      <div className="panel">
        {work.length === 0 ? (
          <EmptyState>It held no work.</EmptyState>
        ) : (
          <ul className="divide-y divide-line">
            {work.map((piece) => (
              <li key={`${piece.id} ${piece.from}`} className="grid gap-1 px-3 py-2">
                <p className="flex flex-wrap items-center gap-x-2">
                  <State tone={ENDS[piece.end].tone}>{ENDS[piece.end].words}</State>
                  <PathLink path={piece.path} className="min-w-0 font-medium hover:underline">
                    <UntrustedText text={piece.title} brief />
                  </PathLink>
                  <span className="ml-auto text-label text-muted">
                    <Time at={piece.to ?? piece.from} />
                  </span>
                </p>
                <Ending piece={piece} />
                {piece.checkpoint && (
                  <p className="text-muted">
                    Last checkpoint ({piece.checkpoint.type}, {dateOf(piece.checkpoint.created_at)}): <UntrustedText text={piece.checkpoint.summary} brief />
                  </p>
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Section>
  );
}

function Ending({ piece: { end, reason, to, taken_by, taken_at } }: { piece: Work }) {
  if (end !== 'lost' && reason === null) return null;
  return (
    <p className={end === 'lost' ? 'text-bad' : 'text-muted'}>
      {to !== null && `${dateOf(to)}: `}
      {reason && <UntrustedText text={reason} />}
      {end === 'lost' && taken_by && taken_at !== null && (
        <>
          {' · taken up by '}
          <AgentName name={taken_by.name} id={taken_by.agent_id} brief={false} />
          {`, ${dateOf(taken_at)}`}
        </>
      )}
      {end === 'lost' && !taken_by && ' · nobody has taken it up'}
    </p>
  );
}

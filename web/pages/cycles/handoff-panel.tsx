import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Cycle } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { Section } from '../../parts/section.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useRead } from '../../queries.ts';
import { type HandoffChange, type HandoffLine, type HandoffPart, partsOf } from './handoff-diff.ts';

const route = getRouteApi('/cycles/$cycle');

interface HandoffPanelProps {
  cycle: Cycle;
  number: number;
  onClose: () => void;
}

/** A handoff, with what has changed since the one before it for the same role. */
export function HandoffPanel({ cycle, number, onClose }: HandoffPanelProps) {
  const { whole = false } = route.useSearch();
  const { data, error, refetch } = useRead('cycles.handoff', { id: cycle.id, number });
  const title = data ? `Handoff ${number}: ${data.handoff.producer} to ${data.handoff.target}` : `Handoff ${number}`;
  const previous = data?.previous ?? undefined;
  const parts = data && partsOf(data.handoff.payload, whole ? undefined : previous?.payload).filter(({ lines }) => lines.length > 0);
  return (
    <SidePanel title={title} onClose={onClose}>
      {error && <Problem what="It could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && <TableSkeleton />}
      {data && (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted">
          <span>
            Handed over <Time at={data.handoff.created_at} /> ago.
          </span>
          {previous && (
            <span>
              {whole ? 'All of it.' : `Marked: what is new, and what is gone, since handoff ${previous.number}, the last for ${previous.target}.`}{' '}
              <Link
                to="/cycles/$cycle"
                params={{ cycle: cycle.id }}
                search={{ handoff: number, ...(!whole && { whole: true as const }) }}
                resetScroll={false}
                className="link"
              >
                {whole ? 'Show the changes' : 'Show it without marks'}
              </Link>
            </span>
          )}
        </p>
      )}
      {parts?.length === 0 && <p className="text-muted">There is nothing in it.</p>}
      {parts?.map((part) => (
        <Lines key={part.title} part={part} marked={!whole && previous !== undefined} />
      ))}
      {data && <CliCommand words={`cycle read ${data.handoff.target}`} options={{ repository: cycle.repository, cycle: cycle.cycle_id }} />}
    </SidePanel>
  );
}

const LOOKS: Record<HandoffChange, { mark: string; word: string; colours: string }> = {
  same: { mark: '', word: '', colours: '' },
  added: { mark: '+', word: 'new: ', colours: 'bg-good-tint text-good' },
  gone: { mark: '−', word: 'gone: ', colours: 'bg-bad-tint text-bad line-through decoration-1' },
};

/** More than these nobody reads at once. */
const BATCH_SIZE = 100;

function Lines({ part: { title, lines }, marked }: { part: HandoffPart; marked: boolean }) {
  const [all, setAll] = useState(false);
  const shown = all ? lines : lines.slice(0, BATCH_SIZE);
  const count = (change: HandoffChange) => lines.filter((line) => line.change === change).length;
  const about = marked ? `${count('added')} new, ${count('gone')} gone, ${count('same')} as before` : counted(lines.length, 'entry', 'entries');
  return (
    <Section title={title} about={about}>
      <ul className="panel divide-y divide-line">
        {shown.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines may be alike, and never move
          <li key={index} className={`flex gap-2 px-3 py-1 ${LOOKS[line.change].colours}`}>
            {marked && (
              <span aria-hidden="true" className="mono w-3 shrink-0">
                {LOOKS[line.change].mark}
              </span>
            )}
            <span className="min-w-0 flex-1">
              <Words line={line} />
            </span>
          </li>
        ))}
      </ul>
      {lines.length > shown.length && (
        <button type="button" className="button justify-self-start" onClick={() => setAll(true)}>
          Show all {lines.length.toLocaleString()}
        </button>
      )}
    </Section>
  );
}

function Words({ line: { text, change } }: { line: HandoffLine }) {
  return (
    <>
      {change !== 'same' && <span className="sr-only">{LOOKS[change].word}</span>}
      <UntrustedText text={text} />
    </>
  );
}

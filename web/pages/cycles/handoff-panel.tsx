import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { Cycle } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { Section } from '../../parts/layout.tsx';
import { SearchLink } from '../../parts/page-search.tsx';
import { ReadPanel } from '../../parts/side-panel.tsx';
import { counted, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { type HandoffChange, type HandoffPart, handoffParts } from './handoff-diff.ts';

const route = getRouteApi('/cycles/$cycle');

/** Shows a handoff and what has changed since the previous handoff to the same role. */
export function HandoffPanel({ cycle, number, onClose }: { cycle: Cycle; number: number; onClose: () => void }) {
  const { whole = false } = route.useSearch();
  const query = useRead('cycles.handoff', { id: cycle.id, number });
  const title = query.data ? `Handoff ${number}: ${query.data.handoff.producer} to ${query.data.handoff.target}` : `Handoff ${number}`;
  return (
    <ReadPanel what="The handoff" title={title} query={query} value={query.data} onClose={onClose}>
      {({ handoff: { payload, target, created_at }, previous }) => {
        const parts = handoffParts(payload, whole ? undefined : previous?.payload).filter(({ lines }) => lines.length > 0);
        return (
          <>
            <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted">
              <span>
                Handed over <Time at={created_at} />.
              </span>
              {previous && (
                <span>
                  {whole ? 'Full text.' : `Changes since handoff ${previous.number}, the previous one to ${previous.target}.`}{' '}
                  <SearchLink set={{ whole: whole ? undefined : true }} className="link">
                    {whole ? 'Show changes' : 'Show full text'}
                  </SearchLink>
                </span>
              )}
            </p>
            {parts.length === 0 && <p className="text-muted">Empty handoff.</p>}
            {parts.map((part) => (
              <Lines key={part.title} part={part} marked={!whole && previous !== null} />
            ))}
            <CliCommand words={`cycle read ${target}`} options={{ repository: cycle.repository, cycle: cycle.cycle_id }} />
          </>
        );
      }}
    </ReadPanel>
  );
}

const LOOKS: Record<HandoffChange, { mark: string; word: string; colours: string }> = {
  same: { mark: '', word: '', colours: '' },
  added: { mark: '+', word: 'new: ', colours: 'bg-good-tint text-good' },
  gone: { mark: '−', word: 'removed: ', colours: 'bg-bad-tint text-bad line-through decoration-1' },
};

/** A part with more lines than this is cut until the person chooses to show all of it. */
const BATCH_SIZE = 100;

function Lines({ part: { title, lines }, marked }: { part: HandoffPart; marked: boolean }) {
  const [all, setAll] = useState(false);
  const shown = all ? lines : lines.slice(0, BATCH_SIZE);
  const count = (change: HandoffChange) => lines.filter((line) => line.change === change).length;
  const about = marked ? `${count('added')} new, ${count('gone')} removed, ${count('same')} unchanged` : counted(lines.length, 'entry', 'entries');
  return (
    <Section title={title} about={about}>
      <ul className="panel divide-y divide-line">
        {shown.map(({ text, change }, index) => {
          const { mark, word, colours } = LOOKS[change];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: two lines can be equal, and lines never change their order
            <li key={index} className={`flex gap-2 px-3 py-1 ${colours}`}>
              {marked && (
                <span aria-hidden="true" className="mono w-3 shrink-0">
                  {mark}
                </span>
              )}
              <span className="min-w-0 flex-1">
                {word && <span className="sr-only">{word}</span>}
                <UntrustedText text={text} />
              </span>
            </li>
          );
        })}
      </ul>
      {lines.length > shown.length && (
        <button type="button" className="button justify-self-start" onClick={() => setAll(true)}>
          Show all {lines.length.toLocaleString()}
        </button>
      )}
    </Section>
  );
}

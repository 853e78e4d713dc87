import type { JournalEvent } from '../../api.ts';
import { Id, isId } from '../../parts/id.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { outcomeOf } from './category.ts';
import { Who } from './who.tsx';

export const EVENT_COLUMNS: readonly Column<JournalEvent>[] = [
  { label: 'Seq', wide: 'sm:w-[9%]', card: 'mono text-muted max-sm:order-3', cell: ({ seq }) => seq },
  { label: 'Time', wide: 'sm:w-[14%]', card: 'text-muted max-sm:order-3', cell: ({ time }) => <Time at={time} /> },
  { label: 'Category', wide: 'sm:w-[10%]', card: 'text-muted max-sm:order-3', cell: ({ category }) => category },
  { label: 'Kind', card: 'max-sm:order-1 max-sm:w-[calc(100%-7rem)] max-sm:font-medium', cell: ({ kind }) => kind },
  { label: 'Actor', card: 'max-sm:order-3', cell: ({ actor }) => <Who actor={actor} /> },
  { label: 'Subject', card: 'max-sm:order-3', cell: ({ subject }) => (subject === null ? '—' : <Subject subject={subject} />) },
  { label: 'Outcome', wide: 'sm:w-[13%]', card: 'max-sm:order-2 max-sm:ml-auto', cell: (event) => <Outcome event={event} /> },
];

function Subject({ subject }: { subject: string }) {
  if (subject.startsWith('dev_')) return <Who actor={`developer:${subject}`} />;
  return isId(subject) ? <Id id={subject} /> : subject;
}

function Outcome({ event }: { event: JournalEvent }) {
  const outcome = outcomeOf(event);
  return outcome ? <State tone={outcome.tone}>{outcome.word}</State> : '—';
}

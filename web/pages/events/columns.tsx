import type { JournalEvent } from '../../api.ts';
import { Id, isId } from '../../parts/id.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { outcomeOf } from './category.ts';
import { Who } from './who.tsx';

export const EVENT_COLUMNS: readonly Column<JournalEvent>[] = [
  { label: 'Seq', wide: 'sm:w-16 lg:w-20', card: 'mono text-muted max-sm:order-3', cell: ({ seq }) => seq },
  { label: 'Time', wide: 'sm:w-20 lg:w-44', card: 'text-muted max-sm:order-3', cell: ({ time }) => <Time at={time} /> },
  { label: 'Category', wide: 'sm:w-18 lg:w-24', card: 'text-muted max-sm:order-3', cell: ({ category }) => category },
  { label: 'Kind', card: `max-sm:order-1 ${CARD_TITLE}`, cell: ({ kind }) => kind },
  {
    label: 'Actor',
    wide: 'sm:w-[15%] lg:w-[20%]',
    card: "max-sm:order-4 max-sm:before:text-muted max-sm:before:content-['by_']",
    cell: ({ actor }) => <Who actor={actor} />,
  },
  {
    label: 'Subject',
    card: "max-sm:order-4 max-sm:before:text-muted max-sm:before:content-['on_']",
    cell: ({ subject }) => (subject === null ? '—' : <Subject subject={subject} />),
  },
  { label: 'Outcome', wide: 'sm:w-24', card: `max-sm:order-2 ${CARD_STATE}`, cell: (event) => <Outcome event={event} /> },
];

function Subject({ subject }: { subject: string }) {
  const [, noun = '', id = subject] = /^([a-z]+:)(.+)$/.exec(subject) ?? [];
  if (id.startsWith('dev_')) return <Who actor={`developer:${id}`} />;
  if (!isId(id)) return subject;
  return (
    <>
      {noun}
      <Id id={id} />
    </>
  );
}

function Outcome({ event }: { event: JournalEvent }) {
  const outcome = outcomeOf(event);
  return outcome ? <State tone={outcome.tone}>{outcome.word}</State> : '—';
}

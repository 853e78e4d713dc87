import { Link } from '@tanstack/react-router';
import type { JournalEvent } from '../../api.ts';
import { Id, isId } from '../../parts/id.tsx';
import { Said } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { outcomeOf } from './category.ts';
import { durationOf } from './duration.ts';
import { Who } from './who.tsx';

/** Between the width of a card and that of a whole table there is no room for it. */
const ROOMY = 'sm:max-[87rem]:hidden';

export const EVENT_COLUMNS: readonly Column<JournalEvent>[] = [
  {
    label: 'Seq',
    wide: 'sm:w-18',
    card: 'mono text-muted max-sm:order-3',
    cell: ({ seq }) => (
      <Link
        from="/activity/"
        to="/activity"
        search={(all) => ({ ...all, event: seq })}
        resetScroll={false}
        aria-label={`Event ${seq}`}
        className="relative text-live hover:underline pointer-coarse:after:absolute pointer-coarse:after:-inset-3"
      >
        {seq}
      </Link>
    ),
  },
  { label: 'Time', wide: 'sm:w-22 lg:w-24', card: 'text-muted max-sm:order-3', cell: ({ time }) => <Time at={time} /> },
  { label: 'Category', wide: 'lg:w-20 sm:max-lg:hidden', card: 'text-muted max-sm:order-3 sm:max-lg:hidden', cell: ({ category }) => category },
  { label: 'Kind', card: `max-sm:order-1 ${CARD_TITLE}`, cell: ({ kind }) => <Said text={kind} brief /> },
  {
    label: 'Actor',
    wide: 'sm:w-[17%]',
    card: "max-sm:order-4 max-sm:flex max-sm:gap-1 max-sm:before:text-muted max-sm:before:content-['by_']",
    cell: ({ actor }) => <Who actor={actor} />,
  },
  {
    label: 'Subject',
    wide: 'sm:w-[18%]',
    card: "max-sm:order-4 max-sm:flex max-sm:gap-1 max-sm:before:text-muted max-sm:before:content-['on_']",
    cell: ({ subject }) => (subject === null ? '—' : <Subject subject={subject} />),
  },
  { label: 'Outcome', wide: 'sm:w-28', card: `max-sm:order-2 ${CARD_STATE}`, cell: (event) => <Outcome event={event} /> },
  { label: 'Duration', wide: `sm:w-20 ${ROOMY}`, card: `text-muted max-sm:hidden ${ROOMY}`, cell: durationOf },
  {
    label: 'Session',
    wide: `sm:w-30 ${ROOMY}`,
    card: `max-sm:hidden ${ROOMY}`,
    cell: ({ session }) => (session === null ? '—' : isId(session) ? <Id id={session} /> : <Said text={session} brief />),
  },
];

export function Subject({ subject }: { subject: string }) {
  const [, noun = '', id = subject] = /^([a-z]+:)(.+)$/.exec(subject) ?? [];
  if (id.startsWith('dev_')) return <Who actor={`developer:${id}`} />;
  if (!isId(id)) return <Said text={subject} brief />;
  return (
    <span>
      {noun}
      <Id id={id} />
    </span>
  );
}

/** A state is a word: whatever else somebody put there is cut. */
const LONGEST_WORD = 16;

export function Outcome({ event }: { event: JournalEvent }) {
  const outcome = outcomeOf(event);
  if (!outcome) return '—';
  const { word, tone } = outcome;
  return (
    <State tone={tone}>
      <Said text={word.length > LONGEST_WORD ? `${word.slice(0, LONGEST_WORD - 1)}…` : word} />
    </State>
  );
}

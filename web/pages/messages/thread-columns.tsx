import { Link } from '@tanstack/react-router';
import type { Thread } from '../../api.ts';
import { AgentName } from '../../parts/agent-name.tsx';
import { counted } from '../../parts/count.ts';
import { UntrustedText } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time, Until } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import type { MessageSearch } from '../../search.ts';
import { Receipts } from './receipts.tsx';
import { HIDDEN, kindOf, toneOf } from './status.ts';

/** Between the width of a card and that of a whole table there is no room for it. */
const ROOMY = 'sm:max-lg:hidden';

export const threadColumns = (search: MessageSearch): readonly Column<Thread>[] => [
  {
    label: 'Subject',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ id, subject, replies }) => (
      <Link to="/messages" search={{ ...search, message: id }} resetScroll={false} className="group">
        <span className="font-medium group-hover:underline">
          {subject === null ? <em className="text-muted">{HIDDEN}</em> : <UntrustedText text={subject} brief />}
        </span>
        {replies > 0 && <span className="text-label text-muted">{counted(replies, 'reply', 'replies')}</span>}
      </Link>
    ),
  },
  { label: 'From', wide: 'sm:w-[14%]', card: 'max-sm:order-3', cell: ({ from }) => <AgentName name={from.name} id={from.agent_id} /> },
  {
    label: 'To',
    wide: 'sm:w-[14%]',
    card: 'max-sm:order-3',
    cell: ({ to, recipients }) => (
      <span className="flex gap-1">
        <span className="text-muted sm:hidden">to </span>
        {recipients > 1 ? counted(recipients, 'agent') : <AgentName name={to.name} id={to.agent_id} />}
      </span>
    ),
  },
  { label: 'Kind', wide: `lg:w-31 ${ROOMY}`, card: `text-muted max-sm:order-3 ${ROOMY}`, cell: (thread) => kindOf(thread) },
  { label: 'Receipts', wide: 'sm:w-24', card: 'max-sm:order-4', cell: (thread) => <Receipts thread={thread} /> },
  {
    label: 'State',
    wide: 'sm:w-34',
    card: `max-sm:order-2 ${CARD_STATE}`,
    cell: (thread) => <State tone={toneOf(thread)}>{thread.status}</State>,
  },
  { label: 'Due', wide: `lg:w-28 ${ROOMY}`, card: `text-muted max-sm:hidden ${ROOMY}`, cell: (thread) => <Due thread={thread} /> },
  { label: 'Age', wide: 'sm:w-20 lg:w-28', card: 'text-muted max-sm:order-5 max-sm:ml-auto', cell: ({ sent_at }) => <Time at={sent_at} /> },
];

/** What is answered is due no more. */
export function Due({ thread: { due_at, status } }: { thread: Pick<Thread, 'due_at' | 'status'> }) {
  if (due_at === null || status === 'answered' || status === 'expired') return '—';
  if (status !== 'overdue') return <Until at={due_at} />;
  return (
    <span className="text-bad">
      <Time at={due_at} /> late
    </span>
  );
}

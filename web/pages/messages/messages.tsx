import { call, type Thread } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { Command } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { CheckFilter, Filter } from '../../parts/filter.tsx';
import { EmptyState, State } from '../../parts/layout.tsx';
import { SearchLink, usePageSearch } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { AgentName, counted, Time, UntrustedText } from '../../parts/values.tsx';
import type { MessageSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { Broadcast } from './broadcast.tsx';
import { Due, Receipts } from './receipts.tsx';
import { HIDDEN, KINDS, kindOf, STATES, toneOf } from './status.ts';
import { ThreadPanel } from './thread-panel.tsx';

const idOf = ({ id }: Thread): string => id;
/** The page polls, because no event reports that a thread has become overdue. */
const POLL_MS = 30_000;
const CLOSED = { message: undefined, broadcast: undefined };

/** The page with all messages, asks, handoffs and announcements. */
export function Messages() {
  const [{ message, broadcast, ...filter }, change] = usePageSearch('/messages');
  const { kind, state, mine } = filter;
  const repository = useRepository();
  const threads = useThreads(filter, repository);
  const pressing = threads.first?.pressing ?? [];
  return (
    <>
      <title>{pressing.length > 0 ? `(${pressing.length}) Messages · Covenant` : 'Messages · Covenant'}</title>
      <div className="flex items-center justify-between gap-3">
        <h1>Messages</h1>
        <ActButton look="primary" onClick={() => void change({ message: undefined, broadcast: true })}>
          Broadcast
        </ActButton>
      </div>
      <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-2">
        <Filter label="Kind" otherwise="All" choices={KINDS} chosen={kind} onChoose={(choice) => void change({ ...CLOSED, kind: choice })} />
        <Filter label="State" otherwise="All" choices={STATES} chosen={state} onChoose={(choice) => void change({ ...CLOSED, state: choice })} />
        <CheckFilter label="With me or my agents" checked={mine ?? false} onChange={(checked) => void change({ ...CLOSED, mine: checked || undefined })} />
      </div>
      {pressing.length > 0 && (
        <section aria-label="Not delivered or overdue" className="panel mt-3">
          <p className="border-b border-line bg-surface px-3 py-1.5 text-label text-muted">
            {threads.first?.pressing_cut ? 'First ' : ''}
            {counted(pressing.length, 'thread')} not delivered or overdue
          </p>
          <Table label="Not delivered or overdue" columns={COLUMNS} rows={pressing} rowKey={idOf} />
        </section>
      )}
      <section aria-label="Threads" className="panel mt-3">
        <DataList
          key={`${kind} ${state} ${mine} ${repository}`}
          noun="messages"
          label="Threads, newest first"
          list={threads}
          columns={COLUMNS}
          rowKey={idOf}
          growsAtTop
          moreLabel="Show older"
          empty={
            pressing.length > 0 ? (
              <p className="p-3 text-center text-muted">No other messages{threads.more ? ' so far' : ''}.</p>
            ) : (
              <NoThreads filter={filter} repository={repository} />
            )
          }
        />
      </section>
      {message && <ThreadPanel key={message} id={message} onClose={() => void change(CLOSED)} />}
      {broadcast && <Broadcast onClose={() => void change(CLOSED)} />}
    </>
  );
}

function useThreads({ kind, state, mine }: MessageSearch, repo: string | undefined) {
  const filter = { ...(kind && { kind }), ...(state && { state }), ...(mine && { mine }), ...(repo !== undefined && { repo }) };
  return usePages({
    key: ['messages.threads', filter],
    read: (before: string | undefined, limit, signal) => call('messages.threads', { ...filter, limit, ...(before && { before }) }, signal),
    next: ({ next }) => next,
    sizes: [50, 100],
    pollMs: POLL_MS,
  });
}

const COLUMNS: readonly Column<Thread>[] = [
  {
    label: 'Subject',
    role: 'title',
    cell: ({ id, subject, replies }) => (
      <SearchLink set={{ message: id }} className="group">
        <span className="font-medium group-hover:underline">
          {subject === null ? <em className="text-muted">{HIDDEN}</em> : <UntrustedText text={subject} brief />}
        </span>
        {replies > 0 && <span className="text-label text-muted">{counted(replies, 'reply', 'replies')}</span>}
      </SearchLink>
    ),
  },
  { label: 'From', width: 'sm:w-[14%]', cell: ({ from }) => <AgentName name={from.name} id={from.agent_id} /> },
  {
    label: 'To',
    width: 'sm:w-[14%]',
    prefix: 'to',
    cell: ({ to, recipients }) => (recipients > 1 ? counted(recipients, 'agent') : <AgentName name={to.name} id={to.agent_id} />),
  },
  { label: 'Kind', role: 'meta', from: 'lg', width: 'lg:w-31', cell: kindOf },
  { label: 'Receipts', width: 'sm:w-24', cell: (thread) => <Receipts thread={thread} /> },
  { label: 'State', role: 'state', cell: (thread) => <State tone={toneOf(thread)}>{thread.status}</State> },
  {
    label: 'Due',
    role: 'none',
    from: 'lg',
    width: 'lg:w-28',
    cell: (thread) => (
      <span className="text-muted">
        <Due thread={thread} />
      </span>
    ),
  },
  { label: 'Sent', role: 'end', width: 'sm:w-24 lg:w-28', cell: ({ sent_at }) => <Time at={sent_at} /> },
];

function NoThreads({ filter: { kind, state, mine }, repository }: { filter: MessageSearch; repository: string | undefined }) {
  if (kind || state || mine || repository !== undefined) {
    return <EmptyState all={{ to: '/messages', search: { repo: undefined }, label: 'Show all messages' }}>No message matches the filter.</EmptyState>;
  }
  return (
    <EmptyState>
      <p>No messages yet. Asks, messages, handoffs and announcements of agents appear here. To see examples, run the demo:</p>
      <Command text="covenant demo" />
    </EmptyState>
  );
}

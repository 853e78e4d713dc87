import { Link } from '@tanstack/react-router';
import { call, type EventView, type ShownInstance } from '../../api.ts';
import { ActorName } from '../../parts/actor-name.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyState, Section, State } from '../../parts/layout.tsx';
import { usePages } from '../../parts/paging.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { Time, UntrustedText } from '../../parts/values.tsx';
import { useInstance } from './instance.tsx';
import { outcomeTone, statusWords } from './status.ts';

/** The page with the instance's review rounds, its failed calls, and its events from the journal. */
export function HistoryView() {
  const { data } = useInstance();
  if (!data) return null;
  return (
    <div className="grid gap-6">
      <Section title="Round history">
        {data.relationships.length === 0 ? (
          <EmptyState>
            <p>No review rounds yet.</p>
          </EmptyState>
        ) : (
          <div className="panel">
            <Table label="Rounds" columns={ROUNDS} rows={data.relationships} rowKey={({ child_instance }) => child_instance} />
          </div>
        )}
      </Section>
      {data.failures.length > 0 && (
        <Section title="Failed calls" about="with branch and commit at the time">
          <div className="panel">
            <Table label="Failed calls" columns={FAILURES} rows={data.failures} rowKey={({ request_id }) => request_id} />
          </div>
        </Section>
      )}
      <Journal id={data.instance.id} since={data.instance.created_at} />
    </div>
  );
}

type Round = ShownInstance['relationships'][number];
const ROUNDS: readonly Column<Round>[] = [
  { label: 'Round', role: 'title', width: 'sm:w-20', cell: ({ review_iteration }) => `Round ${review_iteration}` },
  {
    label: 'Reviewer',
    cell: ({ child_instance }) => (
      <Link to="/reviews/$instance" params={{ instance: child_instance }} className="mono hover:underline">
        {child_instance}
      </Link>
    ),
  },
  { label: 'Of', role: 'none', from: 'lg', cell: ({ parent_instance }) => <span className="mono">{parent_instance}</span> },
  { label: 'Verdict', role: 'state', width: 'sm:w-36', cell: ({ outcome }) => <State tone={outcomeTone(outcome)}>{statusWords(outcome)}</State> },
  { label: 'Started', width: 'sm:w-40', cell: ({ created_at }) => <Time at={created_at} /> },
  { label: 'Duration', role: 'meta', width: 'sm:w-24', cell: ({ created_at, ended_at }) => (ended_at === null ? '—' : tookFrom(created_at, ended_at)) },
];

type Failure = ShownInstance['failures'][number];
const FAILURES: readonly Column<Failure>[] = [
  { label: 'Call', width: 'sm:w-44', cell: ({ tool }) => <span className="mono">{tool}</span> },
  { label: 'Error', role: 'wide', width: 'sm:w-64', cell: ({ code }) => <State tone="bad">{code ?? 'failed'}</State> },
  {
    label: 'Branch and commit',
    role: 'wide',
    cell: ({ branch, commit }) => <UntrustedText text={commit ? `${branch} at ${commit.slice(0, 12)}` : branch} brief className="mono" />,
  },
  { label: 'Time', role: 'meta', width: 'sm:w-40', cell: ({ time }) => <Time at={time} /> },
];

/** Shows the journal events about the instance. Events before `since` are left out, because an earlier instance whose start failed may have had the same id. */
function Journal({ id, since }: { id: string; since: number }) {
  const events = usePages({
    key: ['events.list', { subject: id, since }],
    read: async (before: number | undefined, limit, signal) => {
      const page = await call('events.list', { subject: id, before: before ?? Number.MAX_SAFE_INTEGER, limit }, signal);
      return { ...page, items: page.items.filter(({ time }) => time >= since).reverse() };
    },
    next: ({ looked, anchor }) => (looked.from > anchor.seq + 1 ? looked.from : undefined),
  });
  return (
    <Section title="Journal" about="newest first">
      <div className="panel">
        <DataList
          noun="events"
          what="The events"
          label="Events about this instance, newest first"
          list={events}
          columns={EVENTS}
          rowKey={({ seq }) => seq}
          moreLabel="Show older events"
        />
      </div>
    </Section>
  );
}

const EVENTS: readonly Column<EventView>[] = [
  {
    label: 'Event',
    width: 'sm:w-20',
    prefix: 'event',
    cell: ({ seq }) => (
      <Link to="/activity" search={{ event: seq }} className="hover:underline">
        {seq}
      </Link>
    ),
  },
  { label: 'Kind', role: 'title', width: 'sm:w-52', cell: ({ kind }) => <UntrustedText text={kind} brief /> },
  { label: 'By', role: 'wide', from: 'xl', width: 'xl:w-48', cell: ({ actor }) => <ActorName actor={actor} /> },
  { label: 'What', role: 'wide', cell: ({ payload }) => <UntrustedText text={payloadWords(payload)} brief /> },
  { label: 'Time', role: 'end', width: 'sm:w-36', cell: ({ time }) => <Time at={time} /> },
];

/** Returns the payload as text, such as "status started, worktree kept". */
const payloadWords = (payload: EventView['payload']): string =>
  Object.entries(payload)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Returns a duration such as "40 s", "12 min" or "3 h 5 min". */
function tookFrom(start: number, end: number): string {
  const ms = Math.max(0, end - start);
  if (ms < MINUTE) return `${Math.round(ms / 1_000)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
}

import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, type EventView, type ShownInstance } from '../../api.ts';
import { Problem } from '../../parts/problem.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { EmptyState, Section } from '../../parts/section.tsx';
import { CARD_STATE, CARD_TITLE, type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { Who } from '../events/who.tsx';
import { useShown } from './instance.tsx';
import { inWords, outcomeTone } from './status.ts';
import { tookFrom } from './took.ts';

/** What has happened to it: its rounds, the calls that failed it, and all that the journal has about it. */
export function HistoryView() {
  const { data } = useShown();
  if (!data) return null;
  return (
    <div className="grid gap-6">
      <Section title="Rounds as a table">
        {data.relationships.length === 0 ? (
          <EmptyState>
            <p>No review has run yet.</p>
          </EmptyState>
        ) : (
          <div className="panel">
            <Table label="Rounds" columns={ROUNDS} rows={data.relationships} rowKey={({ child_instance }) => child_instance} />
          </div>
        )}
      </Section>
      {data.failures.length > 0 && (
        <Section title="Failed calls" about="with where its branch stood">
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
  { label: 'Round', wide: 'sm:w-20', card: `max-sm:order-1 ${CARD_TITLE}`, cell: ({ review_iteration }) => `Round ${review_iteration}` },
  {
    label: 'Reviewer',
    card: 'max-sm:order-3',
    cell: ({ child_instance }) => (
      <Link to="/reviews/$instance" params={{ instance: child_instance }} className="mono hover:underline">
        {child_instance}
      </Link>
    ),
  },
  { label: 'Of', wide: 'sm:max-lg:hidden', card: 'max-lg:hidden', cell: ({ parent_instance }) => <span className="mono">{parent_instance}</span> },
  {
    label: 'Verdict',
    wide: 'sm:w-36',
    card: `max-sm:order-2 ${CARD_STATE}`,
    cell: ({ outcome }) => <State tone={outcomeTone(outcome)}>{inWords(outcome)}</State>,
  },
  { label: 'Began', wide: 'sm:w-40', card: 'max-sm:order-4', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    label: 'Took',
    wide: 'sm:w-24',
    card: 'text-muted max-sm:order-5',
    cell: ({ created_at, ended_at }) => (ended_at === null ? '—' : tookFrom(created_at, ended_at)),
  },
];

type Failure = ShownInstance['failures'][number];
const FAILURES: readonly Column<Failure>[] = [
  { label: 'Call', wide: 'sm:w-44', card: 'max-sm:order-1', cell: ({ tool }) => <span className="mono">{tool}</span> },
  { label: 'Refused with', wide: 'sm:w-64', card: 'max-sm:order-2 max-sm:w-full', cell: ({ code }) => <State tone="bad">{code ?? 'failed'}</State> },
  {
    label: 'Branch and commit',
    card: 'max-sm:order-3 max-sm:w-full',
    cell: ({ branch, commit }) => (
      <span className="mono">
        <UntrustedText text={commit ? `${branch} at ${commit.slice(0, 12)}` : branch} brief />
      </span>
    ),
  },
  { label: 'Time', wide: 'sm:w-40', card: 'text-muted max-sm:order-4', cell: ({ time }) => <Time at={time} /> },
];

const PAGE = 50;

/** `since`: one whose start was undone may have had the same id. */
function Journal({ id, since }: { id: string; since: number }) {
  const events = useInfiniteQuery({
    queryKey: ['events.list', { subject: id }],
    queryFn: ({ pageParam, signal }) => call('events.list', { subject: id, before: pageParam, limit: PAGE }, signal),
    initialPageParam: Number.MAX_SAFE_INTEGER,
    getNextPageParam: ({ looked, anchor }) => (looked.from > anchor.seq + 1 ? looked.from : undefined),
  });
  const rows = events.data?.pages.flatMap(({ items }) => items.toReversed()).filter(({ time }) => time >= since);
  return (
    <Section title="Journal" about="newest first">
      <div className="panel">
        {events.error && <Problem what="Its events could not be read." error={events.error} onRetry={() => void events.refetch()} />}
        {!rows && !events.error && <TableSkeleton />}
        {rows && <Table label="Events about this instance, newest first" columns={EVENTS} rows={rows} rowKey={({ seq }) => seq} />}
        {events.hasNextPage && (
          <div className="grid justify-items-center border-t border-line p-3">
            <button type="button" className="button" disabled={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
              Show older events
            </button>
          </div>
        )}
      </div>
    </Section>
  );
}

const EVENTS: readonly Column<EventView>[] = [
  {
    label: 'Event',
    wide: 'sm:w-20',
    card: 'max-sm:order-3',
    cell: ({ seq }) => (
      <Link to="/activity" search={{ event: seq }} className="hover:underline">
        <span className="text-muted sm:hidden">event </span>
        {seq}
      </Link>
    ),
  },
  { label: 'Kind', wide: 'sm:w-52', card: 'max-sm:order-1 max-sm:font-medium', cell: ({ kind }) => <UntrustedText text={kind} brief /> },
  { label: 'By', wide: 'xl:w-48 sm:max-xl:hidden', card: 'max-sm:order-2 max-sm:w-full sm:max-xl:hidden', cell: ({ actor }) => <Who actor={actor} /> },
  {
    label: 'What',
    card: 'max-sm:order-4 max-sm:w-full',
    cell: ({ payload }) => <UntrustedText text={saidBy(payload)} brief />,
  },
  { label: 'Time', wide: 'sm:w-36', card: 'text-muted max-sm:order-3 max-sm:ml-auto', cell: ({ time }) => <Time at={time} /> },
];

/** "status started, worktree kept". */
const saidBy = (payload: EventView['payload']): string =>
  Object.entries(payload)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(', ');

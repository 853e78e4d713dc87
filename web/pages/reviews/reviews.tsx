import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type ActionResult, call, type Instance } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Filter } from '../../parts/filter.tsx';
import { EmptyState, State } from '../../parts/layout.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import { type Column, None } from '../../parts/table.tsx';
import { Time, UntrustedText } from '../../parts/values.tsx';
import type { ReviewSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { LinesChanged } from './lines-changed.tsx';
import { PullLink } from './pull-link.tsx';
import { OPEN_STATUSES, processOf, STATUS_TONES, statusWords } from './status.ts';

/** The page that lists the agents started by the server, and their reviews. */
export function Reviews() {
  const [search, change] = usePageSearch('/reviews');
  const { show, type } = search;
  const repository = useRepository();
  const filter = { ...(show ? {} : { status: OPEN_STATUSES }), ...(type && { type }), ...(repository && { repository }) };
  const instances = usePages({
    key: ['instances.list', filter],
    read: (offset: number | undefined, limit, signal) => call('instances.list', { ...filter, limit, offset: offset ?? 0 }, signal),
    next: ({ total }, held) => (held < total ? held : undefined),
    sizes: [100, 100],
    keepRows: true,
  });
  const sizes = useSizes(instances.rows ?? []);
  const columns = useMemo(() => instanceColumns(sizes), [sizes]);
  return (
    <>
      <title>Reviews · Covenant</title>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1>Reviews</h1>
        <div className="flex flex-wrap gap-x-4 gap-y-2">
          <Filter
            label="Type"
            otherwise="All"
            choices={[
              ['coding', 'Coding'],
              ['review', 'Review'],
              ['planning', 'Planning'],
            ]}
            chosen={type}
            onChoose={(choice) => void change({ type: choice })}
          />
          <Filter label="Show" otherwise="Open" choices={[['all', 'All']]} chosen={show} onChoose={(choice) => void change({ show: choice })} />
        </div>
      </div>
      <section aria-label="Instances" className="panel mt-3">
        <DataList
          key={`${show} ${type} ${repository}`}
          noun="instances"
          label="Instances, newest first"
          list={instances}
          columns={columns}
          rowKey={({ id }) => id}
          growsAtTop
          empty={<NoInstances search={search} repository={repository} />}
        />
      </section>
    </>
  );
}

type Sizes = ReadonlyMap<string, ActionResult<'instances.sizes'>['items'][number]>;

const MAX_SIZED = 100;
/** The polling interval. The server does not compute the sizes more often than this. */
const SIZES_POLL_MS = 15_000;

/** Reads the diff sizes of the first instances. They are polled, because no event reports that a file has changed. */
function useSizes(rows: readonly Instance[]): Sizes {
  const ids = rows
    .filter(({ ended_at, kept_reason }) => ended_at === null || kept_reason !== null)
    .slice(0, MAX_SIZED)
    .map(({ id }) => id);
  const { data } = useQuery({
    queryKey: ['instances.sizes', ids],
    queryFn: ({ signal }) => call('instances.sizes', { instance_ids: ids }, signal),
    enabled: ids.length > 0,
    refetchInterval: SIZES_POLL_MS,
    staleTime: 'static',
    placeholderData: keepPreviousData,
  });
  return useMemo(() => new Map(data?.items.map((size) => [size.instance_id, size])), [data]);
}

/** On small screens a row is shown as a card without column headings, so the name is shown before the value. */
const named = (name: string, value: string) => (
  <>
    <span className="text-muted sm:hidden">{name} </span>
    {value}
  </>
);

const instanceColumns = (sizes: Sizes): readonly Column<Instance>[] => [
  {
    label: 'Instance',
    role: 'title',
    width: 'xl:w-44',
    cell: ({ id, parent_instance_id }) => (
      <Link to="/reviews/$instance" params={{ instance: id }} className="group grid">
        <span className="mono font-medium group-hover:underline">{id}</span>
        {parent_instance_id && <span className="text-label text-muted">reviews {parent_instance_id}</span>}
      </Link>
    ),
  },
  { label: 'Type', from: 'xl', width: 'xl:w-20', cell: ({ type }) => type },
  { label: 'Status', role: 'state', width: 'sm:w-36', cell: ({ status }) => <State tone={STATUS_TONES[status]}>{statusWords(status)}</State> },
  { label: 'Iteration', width: 'sm:w-24', cell: (instance) => <Iteration instance={instance} /> },
  {
    label: 'Failed',
    width: 'sm:w-16',
    cell: ({ type, failed_reviews, max_failed_reviews }) => (type === 'coding' ? named('failed', `${failed_reviews}/${max_failed_reviews}`) : <None />),
  },
  { label: 'Branch', role: 'wide', from: 'xl', cell: ({ branch }) => <UntrustedText text={branch} brief className="mono" /> },
  {
    label: 'Diff +/−',
    width: 'sm:w-28',
    cell: ({ id }) => {
      const size = sizes.get(id);
      return size ? <LinesChanged {...size} /> : <None />;
    },
  },
  { label: 'PR', width: 'sm:w-16', cell: (instance) => (instance.pr_number === null ? <None /> : <PullLink instance={instance} />) },
  { label: 'Process', from: 'lg', width: 'sm:w-20', cell: processOf },
  { label: 'Started', role: 'end', width: 'sm:w-16 lg:w-20 xl:w-24', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Shows how many reviews a coding instance has used. For a review instance, shows the number of its round. */
function Iteration({ instance: { type, reviews, max_reviews, at_limit, review_iteration } }: { instance: Instance }) {
  if (type === 'review') return named('round', review_iteration === null ? '—' : String(review_iteration));
  if (type !== 'coding') return <None />;
  return at_limit ? <State tone="bad">{`limit ${reviews}/${max_reviews}`}</State> : named('reviews', `${reviews}/${max_reviews}`);
}

function NoInstances({ search: { show, type }, repository }: { search: ReviewSearch; repository: string | undefined }) {
  return (
    <EmptyState all={(type || !show) && { to: '/reviews', search: { show: 'all' }, label: 'Show ended instances too' }}>
      <p>
        No {show ? '' : 'open '}
        {type ? `${type} ` : ''}instances{repository && ` in ${repository}`}. Agents that the server starts for issues and reviews appear here. To start one,
        run this in a repository:
      </p>
      <CliCommand words="instances start --repo . --issue 123 --type coding" />
    </EmptyState>
  );
}

import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Instance } from '../../api.ts';
import { useStableRows } from '../../live/tail.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { EmptyState } from '../../parts/section.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import type { ReviewSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { instanceColumns } from './instance-columns.tsx';
import { useInstances, useSizes } from './read-instances.ts';
import { OPEN } from './status.ts';

const route = getRouteApi('/reviews');

/** The agents that the server has started, and who reviews whose work. */
export function Reviews() {
  const search = route.useSearch();
  const { show: chosen, type } = search;
  const repository = useRepository();
  const navigate = useNavigate();
  const show = (next: ReviewSearch): void => void navigate({ to: '/reviews', search: next, resetScroll: false });
  const instances = useInstances({ ...(chosen ? {} : { status: OPEN }), ...(type && { type }), ...(repository && { repository }) });
  const rows = useMemo(() => instances.data?.pages.flatMap(({ items }) => items), [instances.data]);
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
            onChoose={(choice) => show({ ...(chosen && { show: chosen }), ...(choice && { type: choice }) })}
          />
          <Filter
            label="Show"
            otherwise="Open"
            choices={[['all', 'All']]}
            chosen={chosen}
            onChoose={(choice) => show({ ...(type && { type }), ...(choice && { show: choice }) })}
          />
        </div>
      </div>
      <section aria-label="Instances" className="panel mt-3">
        {instances.error && <Problem what="The instances could not be read." error={instances.error} onRetry={() => void instances.refetch()} />}
        {!rows && !instances.error && <TableSkeleton />}
        {rows?.length === 0 && <NoInstances search={search} repository={repository} />}
        {rows && rows.length > 0 && <InstanceList key={`${chosen} ${type} ${repository}`} rows={rows} />}
        {instances.hasNextPage && (
          <div className="grid justify-items-center border-t border-line p-3">
            <button type="button" className="button" disabled={instances.isFetchingNextPage} onClick={() => void instances.fetchNextPage()}>
              Show more instances
            </button>
          </div>
        )}
      </section>
    </>
  );
}

const idOf = ({ id }: Instance): string => id;

function InstanceList({ rows }: { rows: readonly Instance[] }) {
  const { stable, waiting } = useStableRows(rows, idOf);
  const sizes = useSizes(stable);
  const columns = useMemo(() => instanceColumns(sizes), [sizes]);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Instances, newest first" columns={columns} rows={stable} rowKey={idOf} />
    </>
  );
}

function NoInstances({ search: { show, type }, repository }: { search: ReviewSearch; repository: string | undefined }) {
  return (
    <EmptyState>
      <p>
        {show ? 'The server has started no' : 'No'} {type ?? ''} agent{show ? ' yet' : ' that the server has started is at work'}
        {repository && ` in ${repository}`}.
      </p>
      {(type || !show) && (
        <Link to="/reviews" search={{ show: 'all' }} className="link">
          Show all, also those that are over
        </Link>
      )}
      <CliCommand words="instances start --repo . --issue 123 --type coding" />
    </EmptyState>
  );
}

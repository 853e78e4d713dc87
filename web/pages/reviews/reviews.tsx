import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { CliCommand } from '../../parts/cli.tsx';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Nothing } from '../../parts/section.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import { instanceColumns } from './instance-columns.tsx';
import { InstancePanel } from './instance-panel.tsx';
import type { ReviewSearch } from './search.ts';
import { OPEN } from './status.ts';

const route = getRouteApi('/reviews');
const MOST = 100;

/** The agents that the server has started, and who reviews whose work. */
export function Reviews() {
  const { show: chosen, instance: opened } = route.useSearch();
  const navigate = useNavigate();
  const show = (search: ReviewSearch): void => void navigate({ to: '/reviews', search, resetScroll: false });
  const { data, error, refetch } = useRead('instances.list', { limit: MOST, ...(chosen ? {} : { status: OPEN }) });
  const kept: ReviewSearch = chosen ? { show: chosen } : {};
  const columns = useMemo(() => instanceColumns(chosen ? { show: chosen } : {}), [chosen]);
  return (
    <>
      <title>Reviews · Covenant</title>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1>Reviews</h1>
        <Filter label="Show" otherwise="Open" choices={[['all', 'All']]} chosen={chosen} onChoose={(choice) => show(choice ? { show: choice } : {})} />
      </div>
      <section aria-label="Instances" className="panel mt-3">
        {error && <Problem what="The instances could not be read." error={error} onRetry={() => void refetch()} />}
        {!data && !error && <TableSkeleton />}
        {data?.items.length === 0 && (
          <Nothing>
            <p>{chosen ? 'The server has started no agent yet.' : 'No agent that the server has started is at work.'}</p>
            <CliCommand words="instances start --repo . --issue 123 --type coding" />
          </Nothing>
        )}
        {data && data.items.length > 0 && <Table label="Instances, newest first" columns={columns} rows={data.items} rowKey={({ id }) => id} />}
        {data && data.total > data.items.length && (
          <p className="border-t border-line p-3 text-center text-muted">
            The newest {MOST} of {data.total}.
          </p>
        )}
      </section>
      {opened && <InstancePanel key={opened} id={opened} onClose={() => show(kept)} />}
    </>
  );
}

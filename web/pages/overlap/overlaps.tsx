import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Overlap } from '../../api.ts';
import { useSettled } from '../../live/tail.ts';
import { counted } from '../../parts/count.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { Nothing } from '../../parts/section.tsx';
import { type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import { overlapColumns } from './overlap-columns.tsx';
import { OverlapPanel } from './overlap-panel.tsx';
import type { OverlapSearch } from './search.ts';

const route = getRouteApi('/tasks/overlaps');
const MOST = 100;

/** Work that looked like other work, and what became of the question. */
export function Overlaps() {
  const { warning: opened, status } = route.useSearch();
  const navigate = useNavigate();
  const show = (search: OverlapSearch): void => void navigate({ to: '/tasks/overlaps', search, resetScroll: false });
  const { data, error, refetch } = useRead('overlap.list', { limit: MOST, ...(status && { open: true }) });
  const settings = data?.settings;
  const columns = useMemo(() => overlapColumns(status ? { status } : {}, settings), [status, settings]);
  const panel = data?.items.find(({ warning_id }) => warning_id === opened);
  return (
    <>
      <title>Overlaps · Covenant</title>
      <Filter label="Status" otherwise="All" choices={[['open', 'Open']]} chosen={status} onChoose={(choice) => show(choice ? { status: choice } : {})} />
      <section aria-label="Overlaps" className="panel mt-3">
        {error && <Problem what="The overlaps could not be read." error={error} onRetry={() => void refetch()} />}
        {!data && !error && <TableSkeleton />}
        {data?.items.length === 0 && (
          <Nothing>
            <p>
              {status ? 'No overlap waits for a judgement.' : 'No two pieces of work have looked alike yet. What agents check, plan or start is compared here.'}
            </p>
          </Nothing>
        )}
        {data && data.items.length > 0 && <OverlapList key={status} rows={data.items} columns={columns} />}
        {data?.items.length === MOST && <p className="border-t border-line p-3 text-center text-muted">The newest {counted(MOST, 'overlap')}.</p>}
      </section>
      {opened && data && <OverlapPanel key={opened} id={opened} overlap={panel} settings={settings} onClose={() => show(status ? { status } : {})} />}
    </>
  );
}

const idOf = ({ warning_id }: Overlap): string => warning_id;

function OverlapList({ rows, columns }: { rows: readonly Overlap[]; columns: readonly Column<Overlap>[] }) {
  const { settled, waiting } = useSettled(rows, idOf);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Overlaps, newest first" columns={columns} rows={settled} rowKey={idOf} />
    </>
  );
}

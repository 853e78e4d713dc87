import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call, type Overlap } from '../../api.ts';
import { useSettled } from '../../live/tail.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { Said } from '../../parts/said.tsx';
import { Nothing } from '../../parts/section.tsx';
import { type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import type { OverlapSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { MoreRows } from '../tasks/more-rows.tsx';
import { usePages } from '../tasks/pages.ts';
import { Audit } from './audit.tsx';
import { overlapColumns } from './overlap-columns.tsx';
import { OverlapPanel } from './overlap-panel.tsx';

const route = getRouteApi('/tasks/overlaps');

/** Work that looked like other work, and what became of the question. */
export function Overlaps() {
  const { warning: opened, ...kept } = route.useSearch();
  const { status, level, subject, before, audit } = kept;
  const repository = useRepository();
  const navigate = useNavigate();
  const show = (search: OverlapSearch): void => void navigate({ to: '/tasks/overlaps', search, resetScroll: false });
  const filter = { ...(status && { open: true }), ...(level && { level }), ...(subject && { subject_id: subject }), ...(repository && { repository }) };
  const overlaps = usePages({
    key: ['overlap.list', filter],
    read: (cursor: string | undefined, limit, signal) => call('overlap.list', { ...filter, limit, ...(cursor && { before: cursor }) }, signal),
    cursorOf: idOf,
    from: before,
  });
  const { rows } = overlaps;
  const settings = overlaps.first?.settings;
  // The same address has the same columns, or every row would be drawn again.
  const address = JSON.stringify(kept);
  const columns = useMemo(() => overlapColumns(JSON.parse(address) as OverlapSearch, settings), [address, settings]);
  const last = rows?.at(-1);
  const { before: _, ...newest } = kept;
  return (
    <>
      <title>Overlaps · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Filter
          label="Status"
          otherwise="All"
          choices={[['open', 'Open']]}
          chosen={status}
          onChoose={(choice) => show({ ...newest, ...(choice ? { status: choice } : { status: undefined }) })}
        />
        <Filter
          label="Level"
          otherwise="All"
          choices={[
            ['warn', 'Warn'],
            ['escalated', 'Escalated'],
          ]}
          chosen={level}
          onChoose={(choice) => show({ ...newest, ...(choice ? { level: choice } : { level: undefined }) })}
        />
        {before && (
          <Link to="/tasks/overlaps" search={newest} className="link">
            Back to the newest
          </Link>
        )}
        {!audit && (
          <Link to="/tasks/overlaps" search={{ ...kept, audit: true }} resetScroll={false} className="button ml-auto">
            Audit
          </Link>
        )}
      </div>
      {audit && (
        <div className="mt-4">
          <Audit onClose={() => show({ ...kept, audit: undefined })} />
        </div>
      )}
      {subject && <About id={subject} />}
      <section aria-label="Overlaps" className="panel mt-3">
        {overlaps.error && <Problem what="The overlaps could not be read." error={overlaps.error} onRetry={overlaps.retry} />}
        {!rows && !overlaps.error && <TableSkeleton />}
        {rows?.length === 0 && <NoOverlaps open={status === 'open'} narrowed={Boolean(level || subject || before || repository)} />}
        {rows && rows.length > 0 && <OverlapList key={`${address} ${repository}`} rows={rows} columns={columns} />}
        <MoreRows pages={overlaps} what="overlaps" further={{ to: '/tasks/overlaps', search: last ? { ...kept, before: last.warning_id } : kept }} />
      </section>
      {opened && (
        <OverlapPanel key={opened} id={opened} listed={rows?.find(({ warning_id }) => warning_id === opened)} settings={settings} onClose={() => show(kept)} />
      )}
    </>
  );
}

function idOf({ warning_id }: Overlap): string {
  return warning_id;
}

function OverlapList({ rows, columns }: { rows: readonly Overlap[]; columns: readonly Column<Overlap>[] }) {
  const { settled, waiting } = useSettled(rows, idOf);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Overlaps, newest first" columns={columns} rows={settled} rowKey={idOf} />
    </>
  );
}

/** What the list is narrowed to. */
function About({ id }: { id: string }) {
  const isTask = id.startsWith('task_');
  const task = useRead('tasks.show', { task_id: id }, { enabled: isTask }).data?.task;
  const workstream = useRead('workstreams.show', { workstream_id: id }, { enabled: !isTask }).data;
  return (
    <p className="mt-3 flex flex-wrap items-baseline gap-x-3 gap-y-1">
      <span>
        <span className="text-muted">About </span>
        <span className="font-medium">
          <Said text={task?.title ?? workstream?.title ?? id} />
        </span>
      </span>
      <Link to="/tasks/overlaps" className="link">
        All overlaps
      </Link>
    </p>
  );
}

function NoOverlaps({ open, narrowed }: { open: boolean; narrowed: boolean }) {
  return (
    <Nothing>
      <p>
        {open
          ? 'No overlap waits for a judgement.'
          : narrowed
            ? 'No such overlap was found.'
            : 'No two pieces of work have looked alike yet. What agents check, plan or start is compared here.'}
      </p>
      {narrowed && (
        <Link to="/tasks/overlaps" search={{ repo: undefined }} className="link">
          Show all overlaps
        </Link>
      )}
    </Nothing>
  );
}

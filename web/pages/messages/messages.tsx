import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Thread } from '../../api.ts';
import { useStableRows } from '../../live/tail.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Command } from '../../parts/copy.tsx';
import { counted } from '../../parts/count.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { EmptyState } from '../../parts/section.tsx';
import { type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import type { MessageSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { Broadcast } from './broadcast.tsx';
import { useThreads } from './read-threads.ts';
import { KINDS, STATES } from './status.ts';
import { threadColumns } from './thread-columns.tsx';
import { ThreadPanel } from './thread-panel.tsx';

const route = getRouteApi('/messages');
const idOf = ({ id }: Thread): string => id;

/** Was it seen? */
export function Messages() {
  const { message, broadcast, ...filter } = route.useSearch();
  const { kind, state, mine } = filter;
  const repository = useRepository();
  const navigate = useNavigate();
  const show = (search: MessageSearch): void => void navigate({ to: '/messages', search, resetScroll: false });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useThreads(filter, repository);
  const columns = useMemo(() => threadColumns({ ...(kind && { kind }), ...(state && { state }), ...(mine && { mine }) }), [kind, state, mine]);
  const pressing = data?.pages[0]?.pressing ?? [];
  const others = useMemo(() => data?.pages.flatMap(({ items }) => items), [data]);
  const isEmpty = others?.length === 0 && pressing.length === 0;
  return (
    <>
      <title>{pressing.length > 0 ? `(${pressing.length}) Messages · Covenant` : 'Messages · Covenant'}</title>
      <div className="flex items-center justify-between gap-3">
        <h1>Messages</h1>
        <ActButton look="primary" onClick={() => show({ ...filter, broadcast: true })}>
          Broadcast
        </ActButton>
      </div>
      <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-2">
        <Filter label="Kind" otherwise="All" choices={KINDS} chosen={kind} onChoose={(choice) => show({ ...filter, kind: choice })} />
        <Filter label="State" otherwise="All" choices={STATES} chosen={state} onChoose={(choice) => show({ ...filter, state: choice })} />
        <label className="flex items-center gap-2 text-muted pointer-coarse:min-h-11">
          <input type="checkbox" checked={mine ?? false} onChange={({ target }) => show({ ...filter, mine: target.checked || undefined })} />
          With me or my agents
        </label>
      </div>
      {error && (
        <div className="mt-3">
          <Problem what="The messages could not be read." error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!data && !error && (
        <div className="panel mt-3">
          <TableSkeleton />
        </div>
      )}
      {pressing.length > 0 && (
        <section aria-label="Not delivered or overdue" className="panel mt-3">
          <p className="border-b border-line bg-surface px-3 py-1.5 text-label text-muted">
            {data?.pages[0]?.pressing_cut ? 'The first ' : ''}
            {counted(pressing.length, 'thread')} that nobody is known to have seen, or whose answer is overdue
          </p>
          <Table label="Not delivered or overdue" columns={columns} rows={pressing} rowKey={idOf} />
        </section>
      )}
      {others && (
        <section aria-label="Threads" className="panel mt-3">
          {isEmpty && <NoThreads filter={filter} repository={repository} />}
          {others.length > 0 && <Others key={`${kind} ${state} ${mine} ${repository}`} rows={others} columns={columns} />}
          {!isEmpty && others.length === 0 && <p className="p-3 text-center text-muted">Nothing besides{hasNextPage ? ' so far' : ''}.</p>}
          {hasNextPage && (
            <div className="grid justify-items-center border-t border-line p-3">
              <button type="button" className="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Show older
              </button>
            </div>
          )}
        </section>
      )}
      {message && <ThreadPanel key={message} id={message} onClose={() => show(filter)} />}
      {broadcast && <Broadcast onClose={() => show(filter)} />}
    </>
  );
}

function Others({ rows, columns }: { rows: readonly Thread[]; columns: readonly Column<Thread>[] }) {
  const { stable, waiting } = useStableRows(rows, idOf);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Threads, newest first" columns={columns} rows={stable} rowKey={idOf} />
    </>
  );
}

function NoThreads({ filter: { kind, state, mine }, repository }: { filter: MessageSearch; repository: string | undefined }) {
  if (kind || state || mine || repository !== undefined) {
    return (
      <EmptyState>
        <p>{state ? 'Nothing waits like that.' : 'Nothing like that was said.'}</p>
        <Link to="/messages" search={{ repo: undefined }} className="link">
          Show everything
        </Link>
      </EmptyState>
    );
  }
  return (
    <EmptyState>
      <p>Agents’ asks appear here, with their messages, handoffs and announcements. A demonstration shows some:</p>
      <Command text="covenant demo" />
    </EmptyState>
  );
}

import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Command } from '../../parts/copy.tsx';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { EmptyState, Section } from '../../parts/section.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { CYCLE_COLUMNS } from './cycle-columns.tsx';

const PAGE = 50;
/** A repository has one at most. */
const MAX_ACTIVE = 500;

/** Whose turn, since when, what was handed over? */
export function Cycles() {
  const repo = useRepository();
  const where = repo === undefined ? {} : { repo };
  const active = useRead('cycles.list', { ...where, status: ['active'], limit: MAX_ACTIVE });
  const past = useInfiniteQuery({
    queryKey: ['cycles.list', 'past', where],
    queryFn: ({ pageParam: offset, signal }) => call('cycles.list', { ...where, status: ['archived', 'cancelled'], limit: PAGE, offset }, signal),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) => (pages.length * PAGE < total ? pages.length * PAGE : undefined),
  });
  const over = past.data?.pages.flatMap(({ items }) => items);
  const error = active.error ?? past.error;
  const retry = (): void => {
    void active.refetch();
    void past.refetch();
  };
  const none = active.data?.total === 0 && over?.length === 0;
  return (
    <>
      <title>Cycles · Covenant</title>
      <h1>Cycles</h1>
      {error && (
        <div className="mt-3">
          <Problem what="The cycles could not be read." error={error} onRetry={retry} />
        </div>
      )}
      <div className="mt-3 grid gap-7">
        {none ? (
          <div className="panel">
            <NoCycle repo={repo} />
          </div>
        ) : (
          <>
            <Section title="Active" about={active.data && counted(active.data.total, 'cycle')}>
              <div className="panel">
                {!active.data && !active.error && <TableSkeleton />}
                {active.data?.total === 0 && (
                  <EmptyState>
                    <p>No cycle is active. In a repository, this starts one:</p>
                    <CliCommand words="cycle start --feature checkout" />
                  </EmptyState>
                )}
                {active.data && active.data.total > 0 && (
                  <Table label="Active cycles" columns={CYCLE_COLUMNS} rows={active.data.items} rowKey={({ id }) => id} />
                )}
              </div>
            </Section>
            {over && over.length > 0 && (
              <Section title="Past" about={counted(past.data?.pages[0]?.total ?? 0, 'cycle')}>
                <div className="panel">
                  <Table label="Past cycles, newest first" columns={CYCLE_COLUMNS} rows={over} rowKey={({ id }) => id} />
                  {past.hasNextPage && (
                    <div className="grid justify-items-center border-t border-line p-3">
                      <button type="button" className="button" disabled={past.isFetchingNextPage} onClick={() => void past.fetchNextPage()}>
                        Show more cycles
                      </button>
                    </div>
                  )}
                </div>
              </Section>
            )}
          </>
        )}
      </div>
    </>
  );
}

function NoCycle({ repo }: { repo: string | undefined }) {
  if (repo !== undefined) {
    return (
      <EmptyState>
        <p>No cycle was started in this repository.</p>
        <Link to="/cycles" search={{ repo: undefined }} className="link">
          Show all repositories
        </Link>
      </EmptyState>
    );
  }
  return (
    <EmptyState>
      <p>Two roles take turns at a feature, and hand over what the other needs. In your repository, make their keys, then start:</p>
      <Command text="covenant cycle init" />
      <CliCommand words="cycle start --feature checkout" />
    </EmptyState>
  );
}

import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ActionResult, type Cycle, call } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Problem } from '../../parts/problem.tsx';
import { EmptyState, Section } from '../../parts/section.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

type Summary = ActionResult<'cycles.handoffs'>['items'][number];

const NAMES: Record<keyof Summary['counts'], readonly [one: string, many: string]> = {
  files_modified: ['file', 'files'],
  endpoints: ['endpoint', 'endpoints'],
  data_shapes: ['shape', 'shapes'],
  assumptions: ['assumption', 'assumptions'],
  todos: ['todo', 'todos'],
  notes: ['note', 'notes'],
};

const told = ({ counts }: Summary): string =>
  (Object.keys(NAMES) as (keyof Summary['counts'])[])
    .filter((name) => counts[name] > 0)
    .map((name) => counted(counts[name], ...NAMES[name]))
    .join(', ');

/** What one role left for the other, the last first. */
export function Handoffs({ cycle, total }: { cycle: Cycle; total: number }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['cycles.handoffs', 'pages', cycle.id],
    queryFn: ({ pageParam: before, signal }) => call('cycles.handoffs', { id: cycle.id, ...(before !== undefined && { before }) }, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ items }) => {
      const last = items.at(-1)?.number;
      return last !== undefined && last > 1 ? last : undefined;
    },
  });
  const rows = data?.pages.flatMap(({ items }) => items);
  return (
    <Section title="Handoffs" about={counted(total, 'handoff')}>
      {error && <Problem what="The handoffs could not be read." error={error} onRetry={() => void refetch()} />}
      <div className="panel">
        {!rows && !error && <TableSkeleton />}
        {rows?.length === 0 && (
          <EmptyState>
            <p>Nothing has been handed over yet. {cycle.status === 'active' && `${cycle.active_role} does so with handoff.write.`}</p>
          </EmptyState>
        )}
        <ol className="divide-y divide-line">
          {rows?.map((row) => (
            <li key={row.number} data-row className="flex flex-wrap items-center gap-x-3 gap-y-0.5 px-3 py-1.5 hover:bg-surface">
              <Link
                to="/cycles/$cycle"
                params={{ cycle: cycle.id }}
                search={{ handoff: row.number }}
                resetScroll={false}
                className="font-medium hover:underline"
              >
                {row.number}. {row.producer} to {row.target}
              </Link>
              <span className="min-w-0 text-muted">{told(row) || 'empty'}</span>
              <span className="ml-auto text-muted">
                <Time at={row.created_at} />
              </span>
            </li>
          ))}
        </ol>
        {hasNextPage && (
          <div className="grid justify-items-center border-t border-line p-3">
            <button type="button" className="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              Show earlier handoffs
            </button>
          </div>
        )}
      </div>
    </Section>
  );
}

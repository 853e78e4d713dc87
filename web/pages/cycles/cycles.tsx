import { Link } from '@tanstack/react-router';
import { type Cycle, call } from '../../api.ts';
import { CliCommand, Command } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyState, Section, State, type Tone } from '../../parts/layout.tsx';
import { usePages, wholeList } from '../../parts/paging.ts';
import type { Column } from '../../parts/table.tsx';
import { counted, Elapsed, RepositoryName, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { useRepository } from '../../shell/repository-filter.tsx';

/** The maximum number of active cycles to read. A repository has at most one active cycle. */
const MAX_ACTIVE = 500;

export function Cycles() {
  const repo = useRepository();
  const where = repo === undefined ? {} : { repo };
  const active = useRead('cycles.list', { ...where, status: ['active'], limit: MAX_ACTIVE });
  const past = usePages({
    key: ['cycles.list', 'past', where],
    read: (offset: number | undefined, limit, signal) =>
      call('cycles.list', { ...where, status: ['archived', 'cancelled'], limit, offset: offset ?? 0 }, signal),
    next: ({ total }, held) => (held < total ? held : undefined),
  });
  const none = active.data?.total === 0 && past.rows?.length === 0;
  return (
    <>
      <title>Cycles · Covenant</title>
      <h1>Cycles</h1>
      <div className="mt-3 grid gap-7">
        {none ? (
          <div className="panel">
            <NoCycle repo={repo} />
          </div>
        ) : (
          <Section title="Active" about={active.data && counted(active.data.total, 'cycle')}>
            <div className="panel">
              <DataList noun="cycles" label="Active cycles" list={wholeList(active)} columns={COLUMNS} rowKey={({ id }) => id} empty={<NoActive />} />
            </div>
          </Section>
        )}
        {(past.rows?.length || (past.error && !active.error)) && (
          <Section title="Past" about={past.first && counted(past.first.total, 'cycle')}>
            <div className="panel">
              <DataList noun="cycles" label="Past cycles, newest first" list={past} columns={COLUMNS} rowKey={({ id }) => id} />
            </div>
          </Section>
        )}
      </div>
    </>
  );
}

export const CYCLE_TONES: Record<Cycle['status'], Tone> = { active: 'live', archived: 'good', cancelled: 'quiet' };

const COLUMNS: readonly Column<Cycle>[] = [
  {
    label: 'Feature',
    role: 'title',
    cell: ({ id, feature }) => (
      <Link to="/cycles/$cycle" params={{ cycle: id }} className="font-medium hover:underline">
        <UntrustedText text={feature} brief />
      </Link>
    ),
  },
  { label: 'Phase', width: 'sm:w-[16%]', cell: ({ phase }) => phase },
  {
    label: 'Turn',
    width: 'sm:w-[12%]',
    cell: ({ status, active_role }) =>
      status === 'active' ? <span className="font-medium text-live">{active_role}</span> : <span className="max-sm:hidden">—</span>,
  },
  {
    label: 'Lock age',
    role: 'none',
    width: 'sm:w-20 lg:w-28',
    cell: ({ status, lock_acquired_at }) => <span className="text-muted">{status === 'active' ? <Elapsed since={lock_acquired_at} /> : '—'}</span>,
  },
  { label: 'Repository', role: 'meta', from: 'lg', width: 'lg:w-[16%]', cell: ({ repository }) => <RepositoryName path={repository} /> },
  { label: 'Status', role: 'state', cell: ({ status }) => <State tone={CYCLE_TONES[status]}>{status}</State> },
  { label: 'Updated', role: 'end', width: 'sm:w-24 lg:w-28', cell: ({ updated_at }) => <Time at={updated_at} /> },
];

function NoActive() {
  return (
    <EmptyState>
      <p>No active cycle. To start one, run this in a repository:</p>
      <CliCommand words="cycle start --feature checkout" />
    </EmptyState>
  );
}

function NoCycle({ repo }: { repo: string | undefined }) {
  if (repo !== undefined) {
    return <EmptyState all={{ to: '/cycles', search: { repo: undefined }, label: 'Show all repositories' }}>No cycles in this repository.</EmptyState>;
  }
  return (
    <EmptyState>
      <p>No cycles yet. In a cycle two roles take turns on a feature and hand over their work. To create the keys and start one, run in your repository:</p>
      <Command text="covenant cycle init" />
      <CliCommand words="cycle start --feature checkout" />
    </EmptyState>
  );
}

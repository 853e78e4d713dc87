import { type ActionResult, type Cycle, call } from '../../api.ts';
import { ListFrame } from '../../parts/data-list.tsx';
import { EmptyState, Section } from '../../parts/layout.tsx';
import { SearchLink } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import { counted, Time } from '../../parts/values.tsx';

type Summary = ActionResult<'cycles.handoffs'>['items'][number];

const NAMES: Record<keyof Summary['counts'], readonly [one: string, many: string]> = {
  files_modified: ['file', 'files'],
  endpoints: ['endpoint', 'endpoints'],
  data_shapes: ['shape', 'shapes'],
  assumptions: ['assumption', 'assumptions'],
  todos: ['todo', 'todos'],
  notes: ['note', 'notes'],
};

const contentsOf = ({ counts }: Summary): string =>
  (Object.keys(NAMES) as (keyof Summary['counts'])[])
    .filter((name) => counts[name] > 0)
    .map((name) => counted(counts[name], ...NAMES[name]))
    .join(', ');

export function Handoffs({ cycle: { id, status, active_role }, total }: { cycle: Cycle; total: number }) {
  const handoffs = usePages({
    key: ['cycles.handoffs', id],
    read: (before: number | undefined, limit, signal) => call('cycles.handoffs', { id, limit, ...(before !== undefined && { before }) }, signal),
    next: ({ items }) => {
      const last = items.at(-1)?.number;
      return last !== undefined && last > 1 ? last : undefined;
    },
    sizes: [20, 50],
  });
  return (
    <Section title="Handoffs" about={counted(total, 'handoff')}>
      <div className="panel">
        <ListFrame
          noun="handoffs"
          list={handoffs}
          moreLabel="Show earlier handoffs"
          empty={<EmptyState>No handoffs yet. {status === 'active' && `${active_role} writes the first one with handoff.write.`}</EmptyState>}
        >
          {(rows) => (
            <ol className="divide-y divide-line">
              {rows.map((row) => (
                <li key={row.number} data-row className="flex flex-wrap items-center gap-x-3 gap-y-0.5 px-3 py-1.5 hover:bg-surface">
                  <SearchLink set={{ handoff: row.number, whole: undefined }} className="font-medium hover:underline">
                    {row.number}. {row.producer} to {row.target}
                  </SearchLink>
                  <span className="min-w-0 text-muted">{contentsOf(row) || 'empty'}</span>
                  <span className="ml-auto text-muted">
                    <Time at={row.created_at} />
                  </span>
                </li>
              ))}
            </ol>
          )}
        </ListFrame>
      </div>
    </Section>
  );
}

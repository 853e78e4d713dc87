import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { WorkflowTask } from '../../api.ts';
import { useStableRows } from '../../live/tail.ts';
import { counted } from '../../parts/count.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { escapeBidi, UntrustedText } from '../../parts/said.tsx';
import { EmptyState } from '../../parts/section.tsx';
import { CARD_STATE, CARD_TITLE, type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import { State } from '../../parts/tone.tsx';
import type { ListSearch } from '../../search.ts';
import { TaskLink } from './next-tasks.tsx';
import { useWorkflowTasks } from './read-pages.ts';
import { said, TASK_CHOICES, TASK_TONES } from './status.ts';

const page = getRouteApi('/workflows/$workflow');
const route = getRouteApi('/workflows/$workflow/list');

/** All tasks in the order of the plan: what the graph shows, in words. */
export function List() {
  const { workflow } = page.useParams();
  const { status, text } = route.useSearch();
  const navigate = useNavigate();
  const show = (change: ListSearch | Record<keyof ListSearch, undefined>): void =>
    void navigate({ to: '.', search: (search) => ({ ...search, ...change }), resetScroll: false, replace: true });
  const tasks = useWorkflowTasks(workflow, { ...(status && { status }), ...(text && { text }) });
  const rows = useMemo(() => tasks.data?.pages.flatMap(({ items }) => items), [tasks.data]);
  const total = tasks.data?.pages.at(-1)?.total ?? 0;
  return (
    <section aria-label="Tasks" className="grid gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Filter
          label="Status"
          otherwise="All"
          choices={TASK_CHOICES}
          chosen={status}
          onChoose={(choice) => show(choice ? { status: choice } : ({ status: undefined } as ListSearch))}
        />
        <input
          type="search"
          aria-label="Words in the name"
          placeholder="Words in the name"
          data-filter
          className="field w-56 max-sm:w-full"
          defaultValue={text ?? ''}
          maxLength={200}
          onChange={({ target }) => show(target.value.trim() ? { text: target.value } : ({ text: undefined } as ListSearch))}
        />
        {rows && <span className="text-muted">{counted(total, 'task')}</span>}
      </div>
      <div className="panel">
        {tasks.error && <Problem what="The tasks could not be read." error={tasks.error} onRetry={() => void tasks.refetch()} />}
        {!rows && !tasks.error && <TableSkeleton />}
        {rows?.length === 0 && <EmptyState>{status || text ? 'No task fits.' : 'It has no tasks yet: they come with its plan.'}</EmptyState>}
        {rows && rows.length > 0 && <Rows key={`${status} ${text}`} rows={rows} />}
        {tasks.hasNextPage && (
          <div className="grid justify-items-center border-t border-line p-3">
            <button type="button" className="button" disabled={tasks.isFetchingNextPage} onClick={() => void tasks.fetchNextPage()}>
              Show more tasks
            </button>
          </div>
        )}
      </div>
    </section>
  );
}

const idOf = ({ id }: WorkflowTask): string => id;

function Rows({ rows }: { rows: readonly WorkflowTask[] }) {
  const { stable, waiting } = useStableRows(rows, idOf);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Tasks in the order of the plan" columns={COLUMNS} rows={stable} rowKey={idOf} />
    </>
  );
}

/** A card has no column that would be empty. */
const NO_DASH = 'max-sm:has-[[data-none]]:hidden';

const COLUMNS: readonly Column<WorkflowTask>[] = [
  { label: 'Task', wide: 'lg:w-[26%]', card: `max-sm:order-1 ${CARD_TITLE}`, cell: ({ id, name }) => <TaskLink id={id} name={name} /> },
  {
    label: 'Status',
    wide: 'sm:w-34',
    card: `max-sm:order-2 ${CARD_STATE}`,
    cell: ({ status }) => <State tone={TASK_TONES[status]}>{said(status)}</State>,
  },
  {
    label: 'Step',
    wide: 'sm:w-16',
    card: 'text-muted max-sm:order-3',
    cell: ({ sequence }) => (
      <span>
        <span className="sm:hidden">step </span>
        {sequence}
      </span>
    ),
  },
  {
    label: 'Group',
    wide: 'sm:w-[12%]',
    card: `text-muted max-sm:order-3 ${NO_DASH}`,
    cell: ({ parallel_group }) => (parallel_group === null ? <Dash /> : <UntrustedText text={parallel_group} brief />),
  },
  {
    label: 'Holder',
    wide: 'sm:w-[12%]',
    card: `max-sm:order-3 ${NO_DASH}`,
    cell: ({ agent_name }) => (agent_name === null ? <Dash /> : <UntrustedText text={agent_name} brief />),
  },
  {
    label: 'Waits for',
    wide: 'sm:w-[16%] sm:max-lg:hidden',
    card: `max-sm:order-4 max-sm:w-full sm:max-lg:hidden ${NO_DASH}`,
    cell: ({ depends_on }) => <WaitsFor names={depends_on} />,
  },
  {
    label: 'Summary',
    wide: 'sm:max-lg:hidden',
    card: `text-muted max-sm:order-5 max-sm:w-full sm:max-lg:hidden ${NO_DASH}`,
    cell: ({ summary }) => (summary ? <UntrustedText text={summary} brief /> : <Dash />),
  },
];

const Dash = () => <span data-none>—</span>;

function WaitsFor({ names }: { names: readonly string[] }) {
  const [first] = names;
  if (first === undefined) return <Dash />;
  return (
    <span className="flex gap-1" title={escapeBidi(names.slice(0, 20).join(', '))}>
      <span className="text-muted sm:hidden">after</span>
      <UntrustedText text={names.length > 1 ? `${first} and ${names.length - 1} more` : first} brief />
    </span>
  );
}

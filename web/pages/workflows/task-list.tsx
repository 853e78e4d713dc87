import { getRouteApi } from '@tanstack/react-router';
import { call, type WorkflowTask } from '../../api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { Filter } from '../../parts/filter.tsx';
import { EmptyState, State } from '../../parts/layout.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import { type Column, None } from '../../parts/table.tsx';
import { counted, escapeBidi, UntrustedText } from '../../parts/values.tsx';
import type { ListSearch } from '../../search.ts';
import { statusesOf, statusWords, TASK_CHOICES, TASK_TONES } from './status.ts';
import { TaskLink } from './task-words.tsx';

const page = getRouteApi('/workflows/$workflow');

/** Shows the same tasks as the graph in a table, in the order of the plan. */
export function TaskList() {
  const { workflow } = page.useParams();
  const [{ status, text }, change] = usePageSearch('/workflows/$workflow/list');
  const show = (part: ListSearch): void => void change(part, { replace: true });
  const filter = { workflow_id: workflow, ...(status && { status: statusesOf(status) }), ...(text?.trim() && { text: text.trim() }) };
  const tasks = usePages({
    key: ['workflows.tasks', filter],
    read: (offset: number | undefined, limit, signal) => call('workflows.tasks', { ...filter, limit, offset: offset ?? 0 }, signal),
    next: ({ total }, held) => (held < total ? held : undefined),
    sizes: [200, 200],
    keepRows: true,
  });
  return (
    <section aria-label="Tasks" className="grid gap-2">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Filter label="Status" otherwise="All" choices={TASK_CHOICES} chosen={status} onChoose={(choice) => show({ status: choice })} />
        <input
          type="search"
          aria-label="Filter by name"
          placeholder="Filter by name"
          data-filter
          className="field w-56 max-sm:w-full"
          defaultValue={text ?? ''}
          maxLength={200}
          onChange={({ target }) => show({ text: target.value.trim() ? target.value : undefined })}
        />
        {tasks.first && <span className="text-muted">{counted(tasks.first.total, 'task')}</span>}
      </div>
      <div className="panel">
        <DataList
          key={`${status} ${text}`}
          noun="tasks"
          label="Tasks in plan order"
          list={tasks}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          growsAtTop
          empty={<EmptyState>{status || text ? 'No task matches the filter.' : 'No tasks yet. They appear when an agent sets the plan.'}</EmptyState>}
        />
      </div>
    </section>
  );
}

const COLUMNS: readonly Column<WorkflowTask>[] = [
  { label: 'Task', role: 'title', width: 'lg:w-[26%]', cell: ({ id, name }) => <TaskLink id={id} name={name} /> },
  { label: 'Status', role: 'state', cell: ({ status }) => <State tone={TASK_TONES[status]}>{statusWords(status)}</State> },
  { label: 'Step', role: 'meta', width: 'sm:w-16', prefix: 'step', cell: ({ sequence }) => sequence },
  { label: 'Group', role: 'meta', width: 'sm:w-[12%]', cell: ({ parallel_group }) => <Text text={parallel_group} /> },
  { label: 'Holder', width: 'sm:w-[12%]', cell: ({ agent_name }) => <Text text={agent_name} /> },
  { label: 'Dependencies', role: 'wide', from: 'lg', width: 'sm:w-[16%]', prefix: 'after', cell: ({ depends_on }) => <WaitsFor names={depends_on} /> },
  {
    label: 'Summary',
    role: 'wide',
    from: 'lg',
    cell: ({ summary }) => (
      <span className="text-muted">
        <Text text={summary} />
      </span>
    ),
  },
];

const Text = ({ text }: { text: string | null | undefined }) => (text ? <UntrustedText text={text} brief /> : <None />);

function WaitsFor({ names }: { names: readonly string[] }) {
  const [first] = names;
  if (first === undefined) return <None />;
  return (
    <span title={escapeBidi(names.slice(0, 20).join(', '))}>
      <UntrustedText text={names.length > 1 ? `${first} and ${names.length - 1} more` : first} brief />
    </span>
  );
}

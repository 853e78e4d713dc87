import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type ActionInput, call, type Task } from '../../api.ts';
import { ActButton } from '../../parts/actions.tsx';
import { InstalledFirst, SetupCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { CheckFilter, Filter } from '../../parts/filter.tsx';
import { EmptyState, Problem, State } from '../../parts/layout.tsx';
import { SearchLink, usePageSearch } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import type { Column } from '../../parts/table.tsx';
import { AgentName, counted, Id, Time, UntrustedText, workerOf } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import type { TaskSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { PlannedNotice, type PlannedTeamTask, PlanTask } from './plan-task.tsx';
import { STATUS_TONES, STATUSES, statusesOf, statusWord } from './status.ts';
import { CancelTask, OverlapsOf, TaskPanel } from './task-panel.tsx';

export function Tasks() {
  const [{ task: opened, plan, ...filter }, change] = usePageSearch('/tasks/');
  const repository = useRepository();
  const tasks = useTasks(filter, repository);
  const [planned, setPlanned] = useState<PlannedTeamTask>();
  const last = tasks.rows?.at(-1);
  return (
    <>
      <title>Tasks · Covenant</title>
      <TaskFilters
        filter={filter}
        onChange={(part) => void change({ ...part, before: undefined, task: undefined })}
        onPlan={() => void change({ plan: true })}
      />
      {filter.workstream && (
        <div className="mt-3">
          <Workstream key={filter.workstream} id={filter.workstream} />
        </div>
      )}
      {planned && <PlannedNotice planned={planned} onDone={() => setPlanned(undefined)} />}
      <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1 text-muted">
        {tasks.first && countOf(tasks.first.total, filter)}
        {filter.before && (
          <SearchLink set={{ before: undefined, task: undefined }} className="link">
            Back to newest
          </SearchLink>
        )}
      </p>
      <section data-home tabIndex={-1} aria-label="Tasks" className="panel mt-1 outline-none">
        <DataList
          key={JSON.stringify([filter, repository])}
          noun="tasks"
          label="Tasks, last changed first"
          list={tasks}
          columns={COLUMNS}
          rowKey={({ task_id }) => task_id}
          growsAtTop
          further={{ to: '/tasks', search: { ...filter, before: last && cursorText(last) } }}
          empty={<NoTasks filter={filter} repository={repository} onPlan={() => void change({ plan: true })} />}
        />
      </section>
      {opened && (
        <TaskPanel key={opened} id={opened} listed={tasks.rows?.find(({ task_id }) => task_id === opened)} onClose={() => void change({ task: undefined })} />
      )}
      {plan && (
        <PlanTask
          onClose={() => void change({ plan: undefined })}
          onPlanned={(what) => {
            void change({ plan: undefined, task: undefined });
            setPlanned(what);
          }}
        />
      )}
    </>
  );
}

type Before = NonNullable<ActionInput<'tasks.list'>['before']>;

/** Converts a cursor to the format that is used in the page's address. */
const cursorText = ({ updated_at, task_id }: Before): string => `${updated_at}.${task_id}`;

function cursorIn(text: string | undefined): Before | undefined {
  const [, updated_at, task_id] = /^(\d{1,15})\.(\w+)$/.exec(text ?? '') ?? [];
  return updated_at && task_id ? { updated_at: Number(updated_at), task_id } : undefined;
}

/** Reads the tasks that match the filter. The last changed task comes first. */
function useTasks({ status: chosen, mine, owner, workstream, before: from }: TaskSearch, repository: string | undefined) {
  const filter = { status: statusesOf(chosen), mine, owner, workstream_id: workstream, repository };
  return usePages({
    key: ['tasks.list', filter],
    read: (before: Before | undefined, limit, signal) => call('tasks.list', { ...filter, limit, before }, signal),
    next: ({ items, more }) => {
      const last = items.at(-1);
      return more && last ? { updated_at: last.updated_at, task_id: last.task_id } : undefined;
    },
    from: cursorIn(from),
  });
}

/** Returns how many tasks match the filter, including those that were not loaded. */
function countOf(total: number | null, { status, mine, owner }: TaskSearch): string {
  const whose = `${mine ? ' of yours' : ''}${owner ? ` of ${owner}` : ''}`;
  const count = total === null ? 'More than 10,000' : total.toLocaleString();
  return `${count} ${statusWord(status)}${total === 1 ? 'task' : 'tasks'}${whose}${total === 0 ? '' : ', last changed first'}`;
}

const COLUMNS: readonly Column<Task>[] = [
  {
    label: 'Title',
    role: 'title',
    cell: ({ task_id, title }) => (
      <SearchLink set={{ task: task_id }} className="font-medium hover:underline">
        <UntrustedText text={title} brief />
      </SearchLink>
    ),
  },
  { label: 'Status', role: 'state', cell: ({ status }) => <State tone={STATUS_TONES[status]}>{status}</State> },
  { label: 'Owner', width: 'sm:w-[18%] xl:w-[14%]', cell: ({ owner, agent, agent_id }) => <AgentName name={workerOf(owner, agent)} id={agent_id} /> },
  { label: 'Type', role: 'meta', from: 'xl', width: 'xl:w-20', cell: ({ task_type }) => task_type },
  {
    label: 'Workstream',
    role: 'none',
    from: 'xl',
    width: 'xl:w-[13%]',
    cell: ({ title, workstream_id, workstream_title }) =>
      workstream_id === null ? (
        '—'
      ) : (
        <Link to="/tasks" search={{ workstream: workstream_id, status: 'all' }} className="hover:underline">
          {/* If the workstream was created for this task, it has the same title, so the title is not repeated. */}
          {workstream_title === title ? 'own' : <UntrustedText text={workstream_title ?? workstream_id} brief />}
        </Link>
      ),
  },
  {
    label: 'Files',
    role: 'meta',
    width: 'sm:w-18',
    cell: ({ task_id, target_files }) =>
      target_files.length === 0 ? (
        <span className="text-muted max-sm:hidden">none</span>
      ) : (
        <SearchLink set={{ task: task_id }}>{counted(target_files.length, 'file')}</SearchLink>
      ),
  },
  { label: 'Overlap', width: 'sm:w-26', cell: (task) => <OverlapsOf task={task} /> },
  { label: 'Updated', role: 'end', width: 'sm:w-24', cell: ({ updated_at }) => <Time at={updated_at} /> },
  { label: 'Actions', role: 'none', from: 'xl', width: 'xl:w-22', cell: (task) => <CancelTask task={task} inRow /> },
];

interface TaskFiltersProps {
  filter: TaskSearch;
  onChange: (part: TaskSearch) => void;
  onPlan: () => void;
}

/** The filters for status and owner. After each change the list starts again at the newest tasks. */
function TaskFilters({ filter: { status, mine, owner }, onChange, onPlan }: TaskFiltersProps) {
  const owners = useRead('tasks.owners', {}).data?.items.map(({ name }) => [name, name] as const) ?? [];
  // The address may contain an owner who has no tasks, so add that owner to the choices.
  const choices = owner === undefined || owners.some(([name]) => name === owner) ? owners : [[owner, owner] as const, ...owners];
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Filter label="Status" otherwise="Open" choices={STATUSES} chosen={status} onChoose={(choice) => onChange({ status: choice })} />
      {(choices.length > 1 || owner !== undefined) && (
        <Filter label="Owner" otherwise="Everyone" choices={choices} chosen={owner} onChoose={(choice) => onChange({ owner: choice, mine: undefined })} />
      )}
      <CheckFilter label="Only mine" checked={mine ?? false} onChange={(checked) => onChange({ mine: checked || undefined, owner: undefined })} />
      <ActButton look="primary" className="ml-auto" aria-label="Plan work" onClick={onPlan}>
        Plan
      </ActButton>
    </div>
  );
}

/** Shows which workstream the list is filtered by. */
function Workstream({ id }: { id: string }) {
  const { data, error, refetch } = useRead('workstreams.show', { workstream_id: id });
  if (error) return <Problem what="The workstream could not be loaded." error={error} onRetry={() => void refetch()} />;
  return (
    <section aria-label="Workstream" className="panel flex flex-wrap items-start gap-x-3 gap-y-1 p-3">
      <div className="grid min-w-0 flex-1 gap-1">
        <p className="font-medium">
          <span className="text-muted">Workstream </span>
          {data && <UntrustedText text={data.title} brief />}
        </p>
        {data?.description && (
          <p className="text-muted">
            <UntrustedText text={data.description} brief />
          </p>
        )}
        {data && (
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <State tone={STATUS_TONES[data.status]}>{data.status}</State>
            <UntrustedText text={data.owner} />
            <span className="text-muted">
              <Link to="/tasks" search={{ workstream: data.workstream_id, status: 'all' }} className="hover:underline">
                {counted(data.tasks.all, 'task')}
              </Link>
              ,{' '}
              <Link to="/tasks" search={{ workstream: data.workstream_id }} className="hover:underline">
                {data.tasks.open.toLocaleString()} open
              </Link>
            </span>
            <Id id={data.workstream_id} />
          </p>
        )}
      </div>
      <Link to="/tasks" className="button">
        All tasks
      </Link>
    </section>
  );
}

interface NoTasksProps {
  filter: TaskSearch;
  repository: string | undefined;
  onPlan: () => void;
}

function NoTasks({ filter: { status, mine, owner, workstream, before }, repository, onPlan }: NoTasksProps) {
  if (status || mine || owner || workstream || before || repository) {
    return (
      <EmptyState all={{ to: '/tasks', search: { repo: undefined }, label: 'Show all open tasks' }}>
        <p>
          No {statusWord(status)}tasks{mine && ' of yours'}
          {owner && ` of ${owner}`}
          {workstream && ' in this workstream'}
          {repository && ` in ${repository}`}
          {before && ' before this point'}.
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState>
      <p>No open tasks. Tasks appear here when you or an agent plans work.</p>
      <ActButton onClick={onPlan}>Plan a task</ActButton>
      <p>To set up all agents of a machine, run this in a repository on it:</p>
      <SetupCommand />
      <InstalledFirst />
    </EmptyState>
  );
}

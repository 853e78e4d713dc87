import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Task } from '../../api.ts';
import { useSettled } from '../../live/tail.ts';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import type { TaskSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { CancelTask } from './cancel-task.tsx';
import { MoreRows } from './more-rows.tsx';
import { NoTasks } from './no-tasks.tsx';
import { PlanTask } from './plan-task.tsx';
import { type Planned, PlannedNotice } from './planned-notice.tsx';
import { cursorText, useTasks } from './read-tasks.ts';
import { statusWord } from './status.ts';
import { taskColumns } from './task-columns.tsx';
import { TaskFilters } from './task-filters.tsx';
import { TaskPanel } from './task-panel.tsx';
import { Workstream } from './workstream.tsx';

const route = getRouteApi('/tasks/');

/** What is planned, under way and done, by whom. */
export function Tasks() {
  const { task: opened, plan, ...filter } = route.useSearch();
  const repository = useRepository();
  const navigate = useNavigate();
  const show = (search: TaskSearch): void => void navigate({ to: '/tasks', search, resetScroll: false });
  const tasks = useTasks(filter, repository);
  const { rows } = tasks;
  const [cancelling, setCancelling] = useState<Task>();
  const [planned, setPlanned] = useState<Planned>();
  const list = useRef<HTMLElement>(null);
  // The same address has the same columns, or every row would be drawn again.
  const kept = JSON.stringify(filter);
  const columns = useMemo(() => taskColumns(JSON.parse(kept) as TaskSearch, setCancelling), [kept]);
  const last = rows?.at(-1);
  // The row that the dialog was opened from may have gone.
  const cancelled = (): void => {
    flushSync(() => setCancelling(undefined));
    if (opened) show(filter);
    list.current?.focus();
  };
  return (
    <>
      <title>Tasks · Covenant</title>
      <TaskFilters filter={filter} onChange={show} onPlan={() => show({ ...filter, ...(opened && { task: opened }), plan: true })} />
      {filter.workstream && (
        <div className="mt-3">
          <Workstream key={filter.workstream} id={filter.workstream} />
        </div>
      )}
      {planned && <PlannedNotice planned={planned} onDone={() => setPlanned(undefined)} />}
      <p className="mt-3 flex flex-wrap items-center gap-x-3 gap-y-1 text-muted">
        {tasks.first && countOf(tasks.first.total, filter)}
        {filter.before && (
          <Link to="/tasks" search={{ ...filter, before: undefined }} className="link">
            Back to the newest
          </Link>
        )}
      </p>
      <section ref={list} tabIndex={-1} aria-label="Tasks" className="panel mt-1 outline-none">
        {tasks.error && <Problem what="The tasks could not be read." error={tasks.error} onRetry={tasks.retry} />}
        {!rows && !tasks.error && <TableSkeleton />}
        {rows?.length === 0 && <NoTasks filter={filter} repository={repository} onPlan={() => show({ ...filter, plan: true })} />}
        {rows && rows.length > 0 && <TaskList key={`${kept} ${repository}`} rows={rows} columns={columns} />}
        <MoreRows pages={tasks} what="tasks" further={{ to: '/tasks', search: last ? { ...filter, before: cursorText(last) } : filter }} />
      </section>
      {opened && (
        <TaskPanel key={opened} id={opened} listed={rows?.find(({ task_id }) => task_id === opened)} onClose={() => show(filter)} onCancel={setCancelling} />
      )}
      {plan && (
        <PlanTask
          onClose={() => show({ ...filter, ...(opened && { task: opened }) })}
          onPlanned={(what) => {
            show(filter);
            setPlanned(what);
          }}
        />
      )}
      {cancelling && <CancelTask task={cancelling} onClose={() => setCancelling(undefined)} onCancelled={cancelled} />}
    </>
  );
}

/** Exactly the rows of the list, however many of them are shown. */
function countOf(total: number | null, { status, mine, owner }: TaskSearch): string {
  const whose = `${mine ? ' of yours' : ''}${owner ? ` of ${owner}` : ''}`;
  const count = total === null ? 'More than 10,000' : total.toLocaleString();
  return `${count} ${statusWord(status)}${total === 1 ? 'task' : 'tasks'}${whose}${total === 0 ? '' : ', last changed first'}`;
}

const idOf = ({ task_id }: Task): string => task_id;

function TaskList({ rows, columns }: { rows: readonly Task[]; columns: readonly Column<Task>[] }) {
  const { settled, waiting } = useSettled(rows, idOf);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Tasks, last changed first" columns={columns} rows={settled} rowKey={idOf} />
    </>
  );
}

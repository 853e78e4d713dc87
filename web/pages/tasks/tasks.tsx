import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Result, Task } from '../../api.ts';
import { useSettled } from '../../live/tail.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { Command } from '../../parts/copy.tsx';
import { counted } from '../../parts/count.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { Said } from '../../parts/said.tsx';
import { Nothing } from '../../parts/section.tsx';
import { type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import { Notice } from '../../parts/tone.tsx';
import { CancelTask } from './cancel-task.tsx';
import { PlanTask } from './plan-task.tsx';
import { useTasks } from './read-tasks.ts';
import type { TaskSearch } from './search.ts';
import { STATUSES } from './status.ts';
import { taskColumns } from './task-columns.tsx';
import { TaskPanel } from './task-panel.tsx';

const route = getRouteApi('/tasks/');

/** What is planned, under way and done, by whom. */
export function Tasks() {
  const { task: opened, ...filter } = route.useSearch();
  const { status, mine } = filter;
  const navigate = useNavigate();
  const show = (search: TaskSearch): void => void navigate({ to: '/tasks', search, resetScroll: false });
  const tasks = useTasks(filter);
  const [planning, setPlanning] = useState(false);
  const [cancelling, setCancelling] = useState<Task>();
  const [planned, setPlanned] = useState<Planned>();
  const list = useRef<HTMLElement>(null);
  const columns = useMemo(() => taskColumns({ ...(status && { status }), ...(mine && { mine }) }, setCancelling), [status, mine]);
  const rows = useMemo(() => tasks.data?.pages.flatMap(({ items }) => items), [tasks.data]);
  const panel = rows?.find(({ task_id }) => task_id === opened);
  // The row that the dialog was opened from may have gone.
  const cancelled = (): void => {
    flushSync(() => setCancelling(undefined));
    if (opened) show(filter);
    list.current?.focus();
  };
  return (
    <>
      <title>Tasks · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Filter
          label="Status"
          otherwise="Open"
          choices={STATUSES}
          chosen={status}
          onChoose={(choice) => show({ ...(mine && { mine }), ...(choice && { status: choice }) })}
        />
        <label className="flex items-center gap-2 text-muted pointer-coarse:min-h-11">
          <input
            type="checkbox"
            checked={mine ?? false}
            onChange={({ target }) => show({ ...(status && { status }), ...(target.checked && { mine: true }) })}
          />
          Only mine
        </label>
        <ActButton look="primary" className="ml-auto" aria-label="Plan a task" onClick={() => setPlanning(true)}>
          Plan
        </ActButton>
      </div>
      {planned && <PlannedNotice {...planned} onDone={() => setPlanned(undefined)} />}
      <section ref={list} tabIndex={-1} aria-label="Tasks" className="panel mt-3 outline-none">
        {tasks.error && <Problem what="The tasks could not be read." error={tasks.error} onRetry={() => void tasks.refetch()} />}
        {!rows && !tasks.error && <TableSkeleton />}
        {rows?.length === 0 && <NoTasks filter={filter} />}
        {rows && rows.length > 0 && <TaskList key={`${status} ${mine}`} rows={rows} columns={columns} />}
        {tasks.hasNextPage && (
          <div className="grid justify-items-center border-t border-line p-3">
            <button type="button" className="button" disabled={tasks.isFetchingNextPage} onClick={() => void tasks.fetchNextPage()}>
              Show more tasks
            </button>
          </div>
        )}
      </section>
      {opened && rows && <TaskPanel key={opened} id={opened} task={panel} onClose={() => show(filter)} onCancel={setCancelling} />}
      {planning && (
        <PlanTask
          onClose={() => setPlanning(false)}
          onPlanned={(title, { data }) => {
            setPlanning(false);
            setPlanned({ title, alike: data.matches.length, warning: data.warning_id });
          }}
        />
      )}
      {cancelling && <CancelTask task={cancelling} onClose={() => setCancelling(undefined)} onCancelled={cancelled} />}
    </>
  );
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

interface Planned {
  title: string;
  alike: number;
  warning: Result<'tasks.plan'>['data']['warning_id'];
}

function PlannedNotice({ title, alike, warning, onDone }: Planned & { onDone: () => void }) {
  return (
    <div className="mt-3">
      <Notice tone={alike > 0 ? 'wait' : 'good'} role="status">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <p className="min-w-0 flex-1">
            Planned “
            <Said text={title} />
            ”.{' '}
            {alike > 0 && warning && (
              <>
                It looks like {counted(alike, 'other piece of work', 'other pieces of work')}.{' '}
                <Link to="/tasks/overlaps" search={{ warning }} className="underline underline-offset-2">
                  Compare them
                </Link>
              </>
            )}
          </p>
          <button type="button" className="button text-text" onClick={onDone}>
            Done
          </button>
        </div>
      </Notice>
    </div>
  );
}

function NoTasks({ filter: { status, mine } }: { filter: TaskSearch }) {
  if (status || mine) {
    return (
      <Nothing>
        <p>
          No {status ?? 'open'} tasks{mine && ' of yours'}.
        </p>
        <Link to="/tasks" className="link">
          Show all open tasks
        </Link>
      </Nothing>
    );
  }
  return (
    <Nothing>
      <p>Nothing is planned or under way. Plan a task here, or connect an agent that does:</p>
      <Command text="covenant connect claude-code" />
    </Nothing>
  );
}

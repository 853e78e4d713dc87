import { Link } from '@tanstack/react-router';
import { call, type Workflow } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Filter } from '../../parts/filter.tsx';
import { EmptyState, State } from '../../parts/layout.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { usePages } from '../../parts/paging.ts';
import { type Column, None } from '../../parts/table.tsx';
import { counted, RepositoryName, Time, UntrustedText } from '../../parts/values.tsx';
import type { WorkflowsSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { doneIn, ProgressBar, runningIn, tasksIn } from './progress.tsx';
import { statusWords, WORKFLOW_CHOICES, WORKFLOW_TONES } from './status.ts';

/** The page that lists all workflows, newest first. */
export function Workflows() {
  const [{ status }, change] = usePageSearch('/workflows');
  const repository = useRepository();
  const filter = { ...(status && { status: [status] }), ...(repository !== undefined && { repository }) };
  const workflows = usePages({
    key: ['workflows.list', filter],
    read: (offset: number | undefined, limit, signal) => call('workflows.list', { ...filter, limit, offset: offset ?? 0 }, signal),
    next: ({ total }, held) => (held < total ? held : undefined),
  });
  return (
    <>
      <title>Workflows · Covenant</title>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1>Workflows</h1>
        <Filter label="Status" otherwise="All" choices={WORKFLOW_CHOICES} chosen={status} onChoose={(choice) => void change({ status: choice })} />
      </div>
      <section aria-label="Workflows" className="panel mt-3">
        <DataList
          key={`${status} ${repository}`}
          noun="workflows"
          label="Workflows, newest first"
          list={workflows}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          growsAtTop
          moreLabel={`Show more of ${counted(workflows.first?.total ?? 0, 'workflow')}`}
          empty={<NoWorkflows status={status} repository={repository} />}
        />
      </section>
    </>
  );
}

const COLUMNS: readonly Column<Workflow>[] = [
  {
    label: 'Name',
    role: 'title',
    cell: ({ id, name }) => (
      <Link to="/workflows/$workflow" params={{ workflow: id }} className="font-medium hover:underline">
        <UntrustedText text={name} brief />
      </Link>
    ),
  },
  {
    label: 'Status',
    role: 'state',
    width: 'sm:w-30 lg:w-34',
    cell: ({ status, questions }) =>
      questions > 0 ? <State tone="you">{counted(questions, 'question')}</State> : <State tone={WORKFLOW_TONES[status]}>{statusWords(status)}</State>,
  },
  { label: 'Progress', role: 'wide', width: 'sm:w-[16%] lg:w-[18%]', cell: ({ by_status }) => <Progress counts={by_status} /> },
  {
    label: 'Running',
    width: 'sm:w-18 lg:w-20',
    cell: ({ id, by_status }) => <Count workflow={id} count={runningIn(by_status)} status="running" />,
  },
  { label: 'Failed', width: 'sm:w-18 lg:w-20', cell: ({ id, by_status }) => <Count workflow={id} count={by_status.failed} status="failed" /> },
  { label: 'Blocked', from: 'lg', width: 'sm:w-20', cell: ({ id, by_status }) => <Count workflow={id} count={by_status.blocked} status="blocked" /> },
  { label: 'Repository', role: 'meta', width: 'sm:w-[12%] lg:w-[14%]', cell: ({ repository_path }) => <RepositoryName path={repository_path} /> },
  { label: 'Updated', role: 'end', width: 'sm:w-24 lg:w-28', cell: ({ changed_at }) => <Time at={changed_at} /> },
];

function Progress({ counts }: { counts: Workflow['by_status'] }) {
  const total = tasksIn(counts);
  if (total === 0) return <span className="text-muted">no plan</span>;
  return (
    <div className="grid grid-cols-[minmax(2rem,1fr)_auto] items-center gap-2">
      <ProgressBar counts={counts} />
      <span>{`${doneIn(counts).toLocaleString()}/${total.toLocaleString()}`}</span>
    </div>
  );
}

/** A number of tasks, as a link to the list of these tasks. */
function Count({ workflow, count, status }: { workflow: string; count: number; status: 'running' | 'failed' | 'blocked' }) {
  if (count === 0)
    return (
      <span className="text-muted">
        <None>0</None>
      </span>
    );
  return (
    <Link to="/workflows/$workflow/list" params={{ workflow }} search={{ status }} className={`hover:underline ${status === 'failed' ? 'text-bad' : ''}`}>
      {count.toLocaleString()}
      <span className="sm:sr-only"> {status}</span>
    </Link>
  );
}

function NoWorkflows({ status, repository }: { status: WorkflowsSearch['status']; repository: string | undefined }) {
  if (status || repository !== undefined) {
    return (
      <EmptyState all={{ to: '/workflows', search: { repo: undefined }, label: 'Show all workflows' }}>
        <p>
          No {status ? `${statusWords(status)} ` : ''}workflow{repository !== undefined && ` in ${repository}`}.
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState>
      <p>No workflows yet. Agents create them with workflow_create. To create one yourself, run:</p>
      <CliCommand words={'workflow create --name first --prompt "Fix login"'} />
    </EmptyState>
  );
}

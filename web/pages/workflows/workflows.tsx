import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Workflow } from '../../api.ts';
import { useStableRows } from '../../live/tail.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Filter } from '../../parts/filter.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { EmptyState } from '../../parts/section.tsx';
import { Table, TableSkeleton } from '../../parts/table.tsx';
import type { WorkflowsSearch } from '../../search.ts';
import { useRepository } from '../../shell/repository-filter.tsx';
import { useWorkflows } from './read-pages.ts';
import { said, WORKFLOW_CHOICES } from './status.ts';
import { workflowColumns } from './workflow-columns.tsx';

const route = getRouteApi('/workflows');

/** What agents work on together, step by step. */
export function Workflows() {
  const { status } = route.useSearch();
  const repository = useRepository();
  const navigate = useNavigate();
  const show = (search: WorkflowsSearch): void => void navigate({ to: '/workflows', search, resetScroll: false });
  const workflows = useWorkflows(status, repository);
  const rows = useMemo(() => workflows.data?.pages.flatMap(({ items }) => items), [workflows.data]);
  const total = workflows.data?.pages.at(-1)?.total ?? 0;
  return (
    <>
      <title>Workflows · Covenant</title>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1>Workflows</h1>
        <Filter label="Status" otherwise="All" choices={WORKFLOW_CHOICES} chosen={status} onChoose={(choice) => show(choice ? { status: choice } : {})} />
      </div>
      <section aria-label="Workflows" className="panel mt-3">
        {workflows.error && <Problem what="The workflows could not be read." error={workflows.error} onRetry={() => void workflows.refetch()} />}
        {!rows && !workflows.error && <TableSkeleton />}
        {rows?.length === 0 && <None status={status} repository={repository} />}
        {rows && rows.length > 0 && <Rows key={`${status} ${repository}`} rows={rows} />}
        {workflows.hasNextPage && (
          <div className="grid justify-items-center border-t border-line p-3">
            <button type="button" className="button" disabled={workflows.isFetchingNextPage} onClick={() => void workflows.fetchNextPage()}>
              Show more of {counted(total, 'workflow')}
            </button>
          </div>
        )}
      </section>
    </>
  );
}

const idOf = ({ id }: Workflow): string => id;

function Rows({ rows }: { rows: readonly Workflow[] }) {
  const { stable, waiting } = useStableRows(rows, idOf);
  return (
    <>
      {waiting > 0 && <Resume waiting={waiting} />}
      <Table label="Workflows, newest first" columns={workflowColumns} rows={stable} rowKey={idOf} />
    </>
  );
}

function None({ status, repository }: { status: WorkflowsSearch['status']; repository: string | undefined }) {
  if (status || repository !== undefined) {
    return (
      <EmptyState>
        <p>
          No {status ? `${said(status)} ` : ''}workflow{repository !== undefined && ` in ${repository}`}.
        </p>
        <Link to="/workflows" search={{ repo: undefined }} className="link">
          Show all workflows
        </Link>
      </EmptyState>
    );
  }
  return (
    <EmptyState>
      <p>No workflow yet. Make one here, or let an agent call workflow_create:</p>
      <CliCommand words={'workflow create --name first --prompt "Fix login"'} />
    </EmptyState>
  );
}

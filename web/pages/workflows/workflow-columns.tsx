import { Link } from '@tanstack/react-router';
import type { Workflow } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { UntrustedText } from '../../parts/said.tsx';
import { CARD_STATE, CARD_TITLE, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';
import { doneIn, ProgressBar, runningIn, tasksIn } from './progress.tsx';
import { said, WORKFLOW_TONES } from './status.ts';

/** The last part of a path is what people call a repository. */
const repositoryName = (path: string): string => path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;

/** A card has no column that would be empty. */
const NO_ZERO = 'max-sm:has-[[data-none]]:hidden';

export const workflowColumns: readonly Column<Workflow>[] = [
  {
    label: 'Name',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ id, name }) => (
      <Link to="/workflows/$workflow" params={{ workflow: id }} className="font-medium hover:underline">
        <UntrustedText text={name} brief />
      </Link>
    ),
  },
  {
    label: 'Status',
    wide: 'sm:w-30 lg:w-34',
    card: `max-sm:order-2 ${CARD_STATE}`,
    cell: ({ status, questions }) =>
      questions > 0 ? <State tone="you">{counted(questions, 'question')}</State> : <State tone={WORKFLOW_TONES[status]}>{said(status)}</State>,
  },
  { label: 'Progress', wide: 'sm:w-[16%] lg:w-[18%]', card: 'max-sm:order-3 max-sm:w-full', cell: ({ by_status }) => <Progress counts={by_status} /> },
  {
    label: 'Running',
    wide: 'sm:w-18 lg:w-20',
    card: `max-sm:order-4 ${NO_ZERO}`,
    cell: (workflow) => <Count workflow={workflow} count={runningIn(workflow.by_status)} status="running" />,
  },
  {
    label: 'Failed',
    wide: 'sm:w-18 lg:w-20',
    card: `max-sm:order-4 ${NO_ZERO}`,
    cell: (workflow) => <Count workflow={workflow} count={workflow.by_status.failed} status="failed" />,
  },
  {
    label: 'Blocked',
    wide: 'sm:w-20 sm:max-lg:hidden',
    card: `max-sm:order-4 sm:max-lg:hidden ${NO_ZERO}`,
    cell: (workflow) => <Count workflow={workflow} count={workflow.by_status.blocked} status="blocked" />,
  },
  {
    label: 'Repository',
    wide: 'sm:w-[12%] lg:w-[14%]',
    card: 'text-muted max-sm:order-5',
    cell: ({ repository_path }) => (
      <span title={repository_path}>
        <UntrustedText text={repositoryName(repository_path)} brief />
      </span>
    ),
  },
  { label: 'Updated', wide: 'sm:w-16 lg:w-28', card: 'text-muted max-sm:order-5 max-sm:ml-auto', cell: ({ changed_at }) => <Time at={changed_at} /> },
];

function Progress({ counts }: { counts: Workflow['by_status'] }) {
  const total = tasksIn(counts);
  if (total === 0) return <span className="text-muted">no plan yet</span>;
  return (
    <div className="grid grid-cols-[minmax(2rem,1fr)_auto] items-center gap-2">
      <ProgressBar counts={counts} />
      <span>{`${doneIn(counts).toLocaleString()}/${total.toLocaleString()}`}</span>
    </div>
  );
}

/** Opens exactly what it counts. */
function Count({ workflow: { id }, count, status }: { workflow: Workflow; count: number; status: 'running' | 'failed' | 'blocked' }) {
  if (count === 0)
    return (
      <span data-none className="text-muted">
        0
      </span>
    );
  return (
    <Link to="/workflows/$workflow/list" params={{ workflow: id }} search={{ status }} className={`hover:underline ${status === 'failed' ? 'text-bad' : ''}`}>
      {count.toLocaleString()}
      <span className="sm:sr-only"> {status}</span>
    </Link>
  );
}

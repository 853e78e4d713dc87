import type { ActionInput, UsageLine } from '../../api.ts';
import { costWords } from '../../parts/cost.ts';
import type { Column } from '../../parts/table.tsx';
import { AgentName, PathLink, UntrustedText, workerOf } from '../../parts/values.tsx';
import type { UsageSearch } from '../../search.ts';

/** How the rows are grouped. */
export type Grouping = NonNullable<UsageSearch['by']> | 'agent';
export const GROUPING_KEYS = {
  agent: ['developer', 'agent', 'model'],
  day: ['day', 'developer', 'agent', 'model'],
  task: ['task', 'developer', 'agent', 'model'],
  developer: ['developer', 'model'],
} as const satisfies Record<Grouping, ActionInput<'usage.list'>['by']>;
const USUAL_DAYS = 30;
export const daysOf = ({ days }: UsageSearch): number => days ?? USUAL_DAYS;

/** Returns the name of the agent or developer in a row of usage. */
export const whoOf = ({ developer, agent_type }: UsageLine): string => workerOf(developer ?? '—', agent_type);
export const modelOf = ({ model }: Pick<UsageLine, 'model'>): string => model ?? 'unknown model';

export const keyOf = ({ day, agent_id, developer, model, task }: UsageLine): string => JSON.stringify([day, agent_id, developer, model, task?.task_id]);

const FIGURES: readonly Column<UsageLine>[] = [
  { label: 'Input', width: 'sm:w-26 lg:w-28', prefix: 'in', cell: ({ input_tokens }) => input_tokens.toLocaleString() },
  { label: 'Cached', width: 'lg:w-28', from: 'lg', prefix: 'cached', cell: ({ cached_input_tokens }) => cached_input_tokens.toLocaleString() },
  { label: 'Output', width: 'sm:w-26 lg:w-28', prefix: 'out', cell: ({ output_tokens }) => output_tokens.toLocaleString() },
  { label: 'Sessions', width: 'lg:w-22', from: 'lg', prefix: 'sessions', cell: ({ sessions }) => (sessions === 0 ? '—' : sessions.toLocaleString()) },
  { label: 'Cost', role: 'state', width: 'sm:w-20 lg:w-24', cell: (row) => <span title={titleOf(row)}>{costWords(row)}</span> },
];

const DAY: Column<UsageLine> = { label: 'Day', role: 'meta', width: 'sm:w-24', cell: ({ day }) => day ?? '—' };

const TASK: Column<UsageLine> = {
  label: 'Task',
  role: 'title',
  cell: ({ task }) =>
    task === null ? (
      <span className="text-muted">No task</span>
    ) : (
      <PathLink path={`/tasks?task=${task.task_id}`}>
        <UntrustedText text={task.title} brief />
      </PathLink>
    ),
};

export function usageColumns(by: Grouping): readonly Column<UsageLine>[] {
  const width = by === 'task' ? 'sm:w-[16%]' : '';
  return [
    ...(by === 'day' ? [DAY] : by === 'task' ? [TASK] : []),
    {
      label: by === 'developer' ? 'Developer' : 'Agent',
      role: by === 'task' ? 'text' : 'title',
      width,
      cell: (row) => <AgentName name={whoOf(row)} id={row.agent_id} />,
    },
    {
      label: 'Model',
      role: 'wide',
      width,
      cell: (row) => (row.model === null ? <span className="text-muted">{modelOf(row)}</span> : <UntrustedText text={row.model} brief />),
    },
    ...FIGURES,
  ];
}

function titleOf({ cost_usd, unpriced, spans }: UsageLine): string | undefined {
  if (unpriced === 0) return cost_usd === null ? undefined : `$${cost_usd}`;
  return `${unpriced} of ${spans} reports have no known price`;
}

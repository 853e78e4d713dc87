import { Link } from '@tanstack/react-router';
import type { AgentOfTeam } from '../../api.ts';
import { AgentName } from '../../parts/agent-name.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { spentWords } from '../../parts/cost.ts';
import { counted } from '../../parts/count.ts';
import { PathLink } from '../../parts/path-link.tsx';
import { Problem } from '../../parts/problem.tsx';
import { escapeBidi, UntrustedText } from '../../parts/said.tsx';
import { EmptyState, Section } from '../../parts/section.tsx';
import { type Column, Table, TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useRead } from '../../queries.ts';
import { AgentStateMark, stateWords } from './agent-state.tsx';
import { AGENTS_READ } from './waiting.ts';

/** An agent falls silent by time alone, and is heard of by calls that change nothing else. */
const LOOK_MS = 15_000;

export function Agents() {
  const { data, error, refetch } = useRead('agents.list', AGENTS_READ, { everyMs: LOOK_MS });
  return (
    <Section title="Agents" about={data && data.total > 0 && summary(data)}>
      {error && <Problem what="The agents could not be read." error={error} onRetry={() => void refetch()} />}
      {!data && !error && (
        <div className="panel">
          <TableSkeleton />
        </div>
      )}
      {data && (
        <div className="panel">
          {data.items.length === 0 ? (
            <EmptyState>
              <p>No agent has called yet.</p>
              <CliCommand words="connect claude-code" />
              <PathLink path="/settings/agents" className="link">
                Set one up by hand
              </PathLink>
            </EmptyState>
          ) : (
            <Table label="Agents" columns={COLUMNS} rows={data.items} rowKey={({ name, agent_id }) => agent_id ?? name} />
          )}
        </div>
      )}
    </Section>
  );
}

/** "3 working, 1 blocked": what there is none of is left out. */
function summary({ states, total, items }: { states: Partial<Record<AgentOfTeam['state'], number>>; total: number; items: readonly unknown[] }): string {
  const parts = Object.entries(states).flatMap(([state, count]) => (count > 0 ? [`${count} ${stateWords(state as AgentOfTeam['state'])}`] : []));
  return [counted(total, 'agent'), ...(total > items.length ? [`the first ${items.length} listed`] : []), ...parts].join(' · ');
}

/** Between the card and the wide table there is no room for them. */
const ONLY_WIDE = 'sm:max-lg:hidden';

const COLUMNS: readonly Column<AgentOfTeam>[] = [
  {
    label: 'Agent',
    wide: 'sm:w-[22%] lg:w-[18%]',
    card: 'max-sm:order-1 max-sm:min-w-0 max-sm:flex-1 max-sm:font-medium',
    cell: ({ name, agent_id }) => <AgentName name={name} id={agent_id} />,
  },
  { label: 'State', wide: 'sm:w-34', card: 'max-sm:order-2', cell: ({ state }) => <AgentStateMark state={state} /> },
  { label: 'Doing', card: 'max-sm:order-3 max-sm:w-full', cell: Doing },
  { label: 'Holds', wide: 'sm:w-28 lg:w-40', card: 'text-muted max-sm:order-4', cell: Holds },
  {
    label: 'Last seen',
    wide: 'sm:w-22',
    card: "text-muted max-sm:order-5 max-sm:ml-auto max-sm:before:content-['last_seen:_']",
    cell: ({ last_seen_at }) => (last_seen_at === null ? '—' : <Time at={last_seen_at} />),
  },
  {
    label: 'Refused 24 h',
    wide: `sm:w-24 ${ONLY_WIDE}`,
    card: `max-sm:order-6 ${ONLY_WIDE}`,
    cell: ({ refused_24h, agent_id }) =>
      refused_24h > 0 && agent_id !== null ? (
        <Link to="/agents/$agent" params={{ agent: agent_id }} hash="refusals" className="link">
          {refused_24h.toLocaleString()}
          <span className="sm:sr-only"> refused in 24 h</span>
        </Link>
      ) : (
        <span className="max-sm:hidden">{refused_24h.toLocaleString()}</span>
      ),
  },
  {
    label: 'Cost 24 h',
    wide: `sm:w-22 ${ONLY_WIDE}`,
    card: `text-muted max-sm:order-7 max-sm:ml-auto ${ONLY_WIDE}`,
    cell: ({ cost_24h }) => (
      <span className={cost_24h === null ? 'max-sm:hidden' : ''} title={unpriced(cost_24h)}>
        {spentWords(cost_24h)}
      </span>
    ),
  },
];

const unpriced = (cost: AgentOfTeam['cost_24h']): string | undefined =>
  cost !== null && cost.unpriced > 0 ? `${counted(cost.unpriced, 'report')} of a model without a known price` : undefined;

/** And of one that is blocked, by what. */
function Doing({ doing, why_blocked, agent_id }: AgentOfTeam) {
  return (
    <>
      {doing === null ? (
        <span className={why_blocked ? 'hidden' : 'max-sm:hidden'}>—</span>
      ) : (
        <PathLink path={doing.path}>
          <UntrustedText text={doing.text} brief />
        </PathLink>
      )}
      {why_blocked && agent_id !== null && (
        <Link to="/agents/$agent" params={{ agent: agent_id }} hash="refusals" className="block text-wait hover:underline">
          <UntrustedText text={why_blocked.message ?? why_blocked.code ?? why_blocked.outcome} brief />
        </Link>
      )}
    </>
  );
}

function Holds({ holds: { tasks, steps, claims, locks, first } }: AgentOfTeam) {
  const parts = [
    tasks > 0 && counted(tasks, 'task'),
    steps > 0 && counted(steps, 'step'),
    claims > 0 && counted(claims, 'claim'),
    locks > 0 && counted(locks, 'turn'),
  ].filter((part) => part !== false);
  if (parts.length === 0) return <span className="max-sm:hidden">—</span>;
  return <span title={escapeBidi(first.map(({ title }) => title).join('\n'))}>{parts.join(', ')}</span>;
}

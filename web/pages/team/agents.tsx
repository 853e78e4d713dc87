import { Link } from '@tanstack/react-router';
import type { AgentOfTeam } from '../../api.ts';
import { CliCommand } from '../../parts/command.tsx';
import { spentWords } from '../../parts/cost.ts';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyState, Section } from '../../parts/layout.tsx';
import { wholeList } from '../../parts/paging.ts';
import { type Column, None } from '../../parts/table.tsx';
import { AgentName, counted, escapeBidi, PathLink, Time, UntrustedText } from '../../parts/values.tsx';
import { usePreferences } from '../../preferences.ts';
import { useRead } from '../../queries.ts';
import { AgentStateMark, stateWords } from './agent-state.tsx';

/**
 * The list is polled, because no event reports that an agent has become quiet. Read-only calls, which append no work event, also change when an agent was
 * last seen.
 */
const POLL_MS = 15_000;

export function Agents() {
  const agents = useRead('agents.list', { limit: 200 }, { pollMs: POLL_MS });
  const { data } = agents;
  const { firstSteps } = usePreferences();
  return (
    <Section title="Agents" about={data && data.total > 0 && summary(data)}>
      <div className="panel">
        <DataList
          noun="agents"
          label="Agents"
          list={wholeList(agents)}
          columns={COLUMNS}
          rowKey={({ name, agent_id }) => agent_id ?? name}
          empty={
            <EmptyState>
              <p>No agents yet. They appear here with their first call.{!firstSteps && ' To connect one, run this on the server’s machine:'}</p>
              {!firstSteps && <CliCommand words="connect claude-code" />}
              <PathLink path="/settings/agents" className="link">
                Connect an agent
              </PathLink>
            </EmptyState>
          }
        />
      </div>
    </Section>
  );
}

/** Counts the agents in each state, such as "3 working, 1 blocked". States without agents are left out. */
function summary({ states, total, items }: { states: Partial<Record<AgentOfTeam['state'], number>>; total: number; items: readonly unknown[] }): string {
  const parts = Object.entries(states).flatMap(([state, count]) => (count > 0 ? [`${count} ${stateWords(state as AgentOfTeam['state'])}`] : []));
  return [counted(total, 'agent'), ...(total > items.length ? [`first ${items.length} listed`] : []), ...parts].join(' · ');
}

const COLUMNS: readonly Column<AgentOfTeam>[] = [
  {
    label: 'Agent',
    role: 'title',
    width: 'sm:w-[22%] lg:w-[18%]',
    cell: ({ name, agent_id }) => <AgentName name={name} id={agent_id} />,
  },
  { label: 'State', role: 'state', width: 'sm:w-34', cell: ({ state }) => <AgentStateMark state={state} /> },
  { label: 'Doing', role: 'wide', cell: Doing },
  { label: 'Holds', role: 'meta', width: 'sm:w-28 lg:w-40', cell: Holds },
  {
    label: 'Last seen',
    role: 'end',
    width: 'sm:w-24',
    prefix: 'last seen:',
    cell: ({ last_seen_at }) => (last_seen_at === null ? '—' : <Time at={last_seen_at} />),
  },
  {
    label: 'Refused 24 h',
    from: 'lg',
    width: 'sm:w-24',
    cell: ({ refused_24h, agent_id }) =>
      refused_24h > 0 && agent_id !== null ? (
        <Link to="/agents/$agent" params={{ agent: agent_id }} hash="refusals" className="link">
          {refused_24h.toLocaleString()}
          <span className="sm:sr-only"> refused in 24 h</span>
        </Link>
      ) : (
        <None>{refused_24h.toLocaleString()}</None>
      ),
  },
  {
    label: 'Cost 24 h',
    role: 'end',
    from: 'lg',
    width: 'sm:w-22',
    cell: ({ cost_24h }) => (cost_24h === null ? <None /> : <span title={unpriced(cost_24h)}>{spentWords(cost_24h)}</span>),
  },
];

const unpriced = (cost: NonNullable<AgentOfTeam['cost_24h']>): string | undefined =>
  cost.unpriced > 0 ? `${counted(cost.unpriced, 'report')} from models without a known price` : undefined;

/** Shows what the agent is doing. For a blocked agent, also shows the refusal. */
function Doing({ doing, why_blocked, agent_id }: AgentOfTeam) {
  return (
    <>
      {doing === null ? (
        !why_blocked && <None />
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
  if (parts.length === 0) return <None />;
  return <span title={escapeBidi(first.map(({ title }) => title).join('\n'))}>{parts.join(', ')}</span>;
}

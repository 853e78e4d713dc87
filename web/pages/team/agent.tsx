import { getRouteApi, Link, useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ShownAgent } from '../../api.ts';
import { spentWords } from '../../parts/cost.ts';
import { Section } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { PathLink, Time, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { AgentGrants, AgentRuns, AgentTokens } from './agent-access.tsx';
import { AgentHolds, ReleaseAgent } from './agent-holds.tsx';
import { AgentRefusals } from './agent-refusals.tsx';
import { AgentStateMark } from './agent-state.tsx';
import { AgentWork, AgentWorktrees } from './agent-work.tsx';

/** The page polls, because no event reports that the time of an agent's last call has changed. */
const POLL_MS = 15_000;
const route = getRouteApi('/agents/$agent');

/** The page about one agent. It shows what the agent is doing, and why it stopped. */
export function Agent() {
  const { agent: id } = route.useParams();
  const query = useRead('agents.show', { agent_id: id }, { pollMs: POLL_MS });
  return (
    <>
      <title>{`${query.data?.agent.name ?? 'Agent'} · Covenant`}</title>
      <p>
        <Link to="/" className="link">
          Now
        </Link>
      </p>
      {!query.data && <h1>Agent</h1>}
      <Loaded query={query} what="The agent">
        {(shown) => <AgentDetails shown={shown} />}
      </Loaded>
    </>
  );
}

function AgentDetails({ shown }: { shown: ShownAgent }) {
  const { agent, calls } = shown;
  useHash();
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0">
          <UntrustedText text={agent.name} brief />
        </h1>
        <AgentStateMark state={agent.state} />
        <span className="text-muted">last seen {agent.last_seen_at === null ? '—' : <Time at={agent.last_seen_at} />}</span>
        <span className="text-muted">cost 24 h {spentWords(agent.cost_24h)}</span>
        <span className="ml-auto flex flex-wrap gap-2">
          {agent.instance_id !== null && (
            <PathLink path={`/reviews/${agent.instance_id}`} className="button">
              Open instance
            </PathLink>
          )}
          <ReleaseAgent agent={agent} />
        </span>
      </div>
      {agent.doing && (
        <p className="mt-1 flex gap-x-2">
          <span className="shrink-0 text-muted">Doing</span>
          <PathLink path={agent.doing.path}>
            <UntrustedText text={agent.doing.text} brief />
          </PathLink>
        </p>
      )}
      <div className="mt-4 grid gap-x-6 gap-y-7 xl:grid-cols-2">
        <div className="grid content-start gap-7">
          {agent.state === 'blocked' && <AgentRefusals shown={shown} />}
          <AgentHolds shown={shown} />
          <AgentWork work={shown.work} />
          <AgentWorktrees worktrees={shown.worktrees} />
        </div>
        <div className="grid content-start gap-7">
          <Section title="Calls per minute" about="last 3 hours">
            <div className="panel p-3">
              <TimeChart
                label="Calls per minute"
                times={calls.times}
                series={[
                  { label: 'accepted', tone: 'live', values: calls.granted },
                  { label: 'refused', tone: 'bad', values: calls.refused },
                ]}
                unit="call"
              />
            </div>
          </Section>
          {agent.state !== 'blocked' && <AgentRefusals shown={shown} />}
          <AgentRuns registered={shown.registered} sessions={shown.sessions} />
          <AgentTokens tokens={shown.tokens} name={agent.name} />
          <AgentGrants grants={shown.grants} />
        </div>
      </div>
    </>
  );
}

/** Scrolls to the element in the hash of the address. The browser cannot do this, because the element does not exist until the agent is loaded. */
function useHash(): void {
  const { hash } = useLocation();
  useEffect(() => {
    if (hash) document.getElementById(hash)?.scrollIntoView({ block: 'start' });
  }, [hash]);
}

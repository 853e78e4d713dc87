import { useJournal } from '../../live/live-journal.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { Notice } from '../../parts/layout.tsx';
import { Time } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { type AgentType, agentOf, nameOf } from '../identity/agent.ts';

/** The list is polled, because an agent can connect without making a call, and the first use of a token appends no event. */
const POLL_MS = 2_000;
const LATEST = 200;

/** Returns the agents that have connected, with the time of their last call. Calls arrive as events, and other connections are found by polling. */
export function useConnectedAgents(): ReadonlyMap<AgentType, number> {
  const isOperator = useRead('identity.me', {}).data?.operator ?? false;
  const tokens = useRead('tokens.list', { own: !isOperator, status: 'live', limit: LATEST }, { pollMs: POLL_MS }).data?.items ?? [];
  const { events } = useJournal().state;
  const connected = new Map<AgentType, number>();
  const add = (name: string, at: number): void => {
    const agent = agentOf(name);
    if (agent !== undefined) connected.set(agent, Math.max(at, connected.get(agent) ?? 0));
  };
  for (const { kind, agent, last_used_at } of tokens) if (kind === 'agent' && agent !== null && last_used_at !== null) add(agent, last_used_at);
  for (const { actor, time } of events) add(/^agent:([^@]+)@/.exec(actor)?.[1] ?? '', time);
  return connected;
}

/** Shows the command that connects one agent on the server's machine. */
export function ConnectCommand({ agent }: { agent: AgentType }) {
  return (
    <>
      <p className="text-muted">
        On this server’s machine, run the command in your repository. It creates a token and prints how to add the server to {nameOf(agent)}.
      </p>
      <CliCommand words={`connect ${agent}`} />
    </>
  );
}

/** Shows whether the agent has connected. When it connects, a check mark appears without a reload. */
export function ConnectionState({ agent, lastCall }: { agent: AgentType; lastCall: number | undefined }) {
  const name = nameOf(agent);
  if (lastCall === undefined) {
    return (
      <Notice tone="quiet" role="status">
        Waiting for the first call. Restart {name} in your repository and ask it: “What is my team working on?”
      </Notice>
    );
  }
  return (
    <Notice tone="good" role="status">
      {name} is connected. Last call <Time at={lastCall} />.
    </Notice>
  );
}

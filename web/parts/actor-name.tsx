import { useRead } from '../queries.ts';
import { AgentName, shortId, UntrustedText } from './values.tsx';

/** Shows an actor as `codex@mira`. The journal contains ids instead, as in `agent:codex@dev_…`. The names of agents are links to their pages. */
export function ActorName({ actor }: { actor: string }) {
  const developers = useRead('developers.list', {}).data?.items;
  const name = (id: string): string => developers?.find(({ developer_id }) => developer_id === id)?.name ?? shortId(id);
  const [, kind, agent, id] = /^(agent|developer|instance):(?:([^@]+)@)?([^@]+)$/.exec(actor) ?? [];
  if (id === undefined) return <UntrustedText text={actor} brief />;
  if (kind === 'instance') return <AgentName name={id} id={id} />;
  if (agent === undefined) return <UntrustedText text={name(id)} brief />;
  return <AgentName name={`${agent}@${name(id)}`} id={`${agent}@${id}`} />;
}

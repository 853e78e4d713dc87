import { useRead } from '../queries.ts';
import { AgentName, shortId, UntrustedText } from './values.tsx';

/** `codex@mira` instead of `agent:codex@dev_…`, because the journal stores ids. Agents link to their pages. */
export function ActorName({ actor }: { actor: string }) {
  const developers = useRead('developers.list', {}).data?.items;
  const name = (id: string): string => developers?.find(({ developer_id }) => developer_id === id)?.name ?? shortId(id);
  const [, kind, agent, id] = /^(agent|developer|instance):(?:([^@]+)@)?([^@]+)$/.exec(actor) ?? [];
  if (id === undefined) return <UntrustedText text={actor} brief />;
  if (kind === 'instance') return <AgentName name={id} id={id} />;
  if (agent === undefined) return <UntrustedText text={name(id)} brief />;
  return <AgentName name={`${agent}@${name(id)}`} id={`${agent}@${id}`} />;
}

import { AgentName } from '../../parts/agent-name.tsx';
import { shortId } from '../../parts/id.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { useRead } from '../../queries.ts';

/** `codex@mira` for `agent:codex@dev_…`: the journal holds ids, people read names. An agent leads to its page. */
export function Who({ actor }: { actor: string }) {
  const developers = useRead('developers.list', {}).data?.items;
  const name = (id: string): string => developers?.find(({ developer_id }) => developer_id === id)?.name ?? shortId(id);
  const [, kind, agent, id] = /^(agent|developer|instance):(?:([^@]+)@)?([^@]+)$/.exec(actor) ?? [];
  if (id === undefined) return <UntrustedText text={actor} brief />;
  if (kind === 'instance') return <AgentName name={id} id={id} />;
  if (agent === undefined) return <UntrustedText text={name(id)} brief />;
  return <AgentName name={`${agent}@${name(id)}`} id={`${agent}@${id}`} />;
}

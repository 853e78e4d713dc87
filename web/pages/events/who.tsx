import { shortId } from '../../parts/id.tsx';
import { useRead } from '../../queries.ts';

/** `codex@mira` for `agent:codex@dev_…`: the journal holds ids, people read names. */
export function Who({ actor }: { actor: string }) {
  const developers = useRead('developers.list', {}).data?.items;
  const name = (id: string): string => developers?.find(({ developer_id }) => developer_id === id)?.name ?? shortId(id);
  const [, agent, id] = /^(?:agent:(.+)@|developer:|instance:)([^@]+)$/.exec(actor) ?? [];
  const text = id === undefined ? actor : agent === undefined ? name(id) : `${agent}@${name(id)}`;
  return <span title={actor}>{text}</span>;
}

/**
 * The actor of a journal event is `agent:codex@dev_…`, `instance:work-7-a1`, `developer:dev_…` (a token without an agent type) or
 * `operator`. An agent's id, to which people address messages, is the actor without the prefix before the colon.
 */
export const agentIdOf = (actor: string): string => actor.replace(/^(?:agent|instance|developer):/, '');

export function actorOf(agentId: string): string {
  if (agentId === 'operator') return agentId;
  if (agentId.includes('@')) return `agent:${agentId}`;
  return agentId.startsWith('dev_') ? `developer:${agentId}` : `instance:${agentId}`;
}

const AGENT = /^agent:(.+)@(dev_\w+)$/;
const DEVELOPER = /^developer:(dev_\w+)$/;

/** The agent program named in an actor, or null. */
export const agentTypeOf = (actor: string): string | null => AGENT.exec(actor)?.[1] ?? null;

/** The developer named in an actor, or null. The developer of an instance is stored in the instance's row. */
export const ownerOf = (actor: string): string | null => AGENT.exec(actor)?.[2] ?? DEVELOPER.exec(actor)?.[1] ?? null;

/** `codex@mira`, `mira`, `work-7-a1`. */
export function nameOf(actor: string, developer: (id: string) => string): string {
  const [, type, owner] = AGENT.exec(actor) ?? [];
  if (type && owner) return `${type}@${developer(owner)}`;
  const person = DEVELOPER.exec(actor)?.[1];
  return person ? developer(person) : agentIdOf(actor);
}

interface Carrier {
  readonly kind: string;
  readonly developer_id: string | null;
  readonly agent_type: string | null;
  readonly instance_id: string | null;
}

/** The actor for calls with this token; undefined for a browser. */
export function actorOfToken({ kind, developer_id, agent_type, instance_id }: Carrier): string | undefined {
  if (kind === 'agent') return `agent:${agent_type}@${developer_id}`;
  if (kind === 'instance') return `instance:${instance_id}`;
  if (kind === 'developer') return `developer:${developer_id}`;
  return kind === 'operator' ? 'operator' : undefined;
}

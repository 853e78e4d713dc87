/**
 * The actor of a journal event is `agent:codex@dev_…`, `instance:work-7-a1`, `developer:dev_…` (a token without an agent type) or
 * `operator`. In messages, people address an agent by its id, which is the actor without the prefix before the colon.
 */
export const agentIdOf = (actor: string): string => actor.replace(/^(?:agent|instance|developer):/, '');

export function actorOf(agentId: string): string {
  if (agentId === 'operator') return agentId;
  if (agentId.includes('@')) return `agent:${agentId}`;
  return agentId.startsWith('dev_') ? `developer:${agentId}` : `instance:${agentId}`;
}

const AGENT = /^agent:(.+)@(dev_\w+)$/;
const DEVELOPER = /^developer:(dev_\w+)$/;

/** Returns the agent program of an actor, such as `codex`, or null if the actor is not an agent. */
export const agentTypeOf = (actor: string): string | null => AGENT.exec(actor)?.[1] ?? null;

/** Returns the developer id of an actor, or null. For an instance the result is null, because its developer is stored in the instance's row. */
export const ownerOf = (actor: string): string | null => AGENT.exec(actor)?.[2] ?? DEVELOPER.exec(actor)?.[1] ?? null;

/** Returns the display name of an actor, such as `codex@mira`, `mira` or `work-7-a1`. */
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

/** Returns the actor of calls with this token, or undefined for the token of a browser sign-in. */
export function actorOfToken({ kind, developer_id, agent_type, instance_id }: Carrier): string | undefined {
  if (kind === 'agent') return `agent:${agent_type}@${developer_id}`;
  if (kind === 'instance') return `instance:${instance_id}`;
  if (kind === 'developer') return `developer:${developer_id}`;
  return kind === 'operator' ? 'operator' : undefined;
}

import { calling, type ItemOf } from '../call.ts';
import type { CliCommand } from '../command.ts';
import { age, counted, list, oneLine } from '../output.ts';

/** The agents at work, by the names that people know. */
export const agentCommands: readonly CliCommand[] = [
  calling({
    name: 'agents list',
    summary: 'Who is at work: how each agent stands, what it does and holds, and when it was last heard of.',
    action: 'agents.list',
    input: () => ({ limit: 200 }),
    kind: 'agent_list',
    only: ['items', 'total'],
    text({ items, total }) {
      const rows = items.map((agent) => [agent.name, agent.state, age(agent.last_seen_at), holds(agent), doing(agent)]);
      const none = 'No agent has called yet. covenant connect claude-code sets one up.';
      return list(['AGENT', 'STATE', 'SEEN', 'HOLDS', 'DOING'], rows, none, total, 'first');
    },
  }),
  calling({
    name: 'agents release',
    summary: 'Give back the steps and claims that an agent holds, as if it had left.',
    positionals: { AGENT: 'agent_id' },
    action: 'agents.release',
    kind: 'agent_released',
    text: ({ agent_id, steps_released, claims_released }) => `Released ${steps_released} step(s) and ${claims_released} claim(s) of ${agent_id}.`,
  }),
];

const doing = ({ doing: what, why_blocked }: ItemOf<'agents.list'>): string => oneLine(why_blocked?.message ?? what?.text ?? '—').slice(0, 80);

function holds({ holds: { tasks, steps, claims, locks } }: ItemOf<'agents.list'>): string {
  const parts = Object.entries({ task: tasks, step: steps, claim: claims, turn: locks }).flatMap(([name, count]) => (count > 0 ? [counted(count, name)] : []));
  return parts.join(', ') || '—';
}

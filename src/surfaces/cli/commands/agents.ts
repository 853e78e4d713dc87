import { calling, type ItemOf } from '../call.ts';
import type { CliCommand } from '../command.ts';
import { age, counted, list, oneLine, type TableShape } from '../output.ts';

export const agentCommands: readonly CliCommand[] = [
  calling({
    name: 'agents list',
    summary: 'List agents: their state, their work and when they were last seen.',
    examples: ['agents list'],
    action: 'agents.list',
    input: () => ({ limit: 200 }),
    kind: 'agent_list',
    only: ['items', 'total'],
    text({ items, total }, { out }) {
      const rows = items.map((agent) => [agent.name, agent.state, age(agent.last_seen_at), holds(agent), doing(agent)]);
      const none = 'No agent has connected yet.\n    next: covenant connect claude-code';
      return list(AGENTS, rows, { none, total, which: 'first', columns: out.columns });
    },
  }),
  calling({
    name: 'agents release',
    summary: 'Release the steps and claims that an agent holds.',
    description: 'Use this command if an agent has stopped but still holds work. Other agents can then claim that work immediately.',
    arguments: [{ name: 'AGENT', description: 'The agent id, or the last characters of the id.', field: 'agent_id' }],
    examples: ['agents release codex@mira'],
    action: 'agents.release',
    kind: 'agent_released',
    text: ({ agent_id, steps_released, claims_released }) =>
      `Released ${counted(steps_released, 'step')} and ${counted(claims_released, 'claim')} of ${agent_id}.`,
  }),
];

const AGENTS: TableShape = {
  head: ['AGENT', 'STATE', 'SEEN', 'HOLDS', 'DOING'],
  narrow: [
    ['DOING', 24],
    ['HOLDS', 8],
    ['AGENT', 16],
    ['DOING', 8],
  ],
};

const doing = ({ doing: what, why_blocked }: ItemOf<'agents.list'>): string => oneLine(why_blocked?.message ?? what?.text ?? '—').slice(0, 80);

function holds({ holds: { tasks, steps, claims, locks } }: ItemOf<'agents.list'>): string {
  const parts = Object.entries({ task: tasks, step: steps, claim: claims, turn: locks }).flatMap(([name, count]) => (count > 0 ? [counted(count, name)] : []));
  return parts.join(', ') || '—';
}

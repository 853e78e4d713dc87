import type { agentsList, agentsRelease } from '../../../features/people/roster/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand } from '../command.ts';
import { age, table } from '../output.ts';

const ask = asking<{ 'agents.list': Output<typeof agentsList>; 'agents.release': Output<typeof agentsRelease> }>();
type Agent = Output<typeof agentsList>['items'][number];

/** Who is at work, as people know them. */
export const agentCommands: readonly CliCommand[] = [
  {
    name: 'agents list',
    summary: 'Who is at work: how each agent stands, what it does and holds, and when it was last heard of.',
    async run(invocation) {
      const { items, total } = await ask(invocation, 'agents.list', { limit: 200 });
      const now = Date.now();
      const rows = items.map((agent) => [agent.name, agent.state, age(agent.last_seen_at, now), holds(agent), doing(agent)]);
      const text =
        items.length === 0 ? 'No agent has called yet. covenant connect claude-code sets one up.' : table(['AGENT', 'STATE', 'SEEN', 'HOLDS', 'DOING'], rows);
      return { json: { kind: 'agent_list', items, total }, text: `${text}${total > items.length ? `\n(the first ${items.length} of ${total})` : ''}` };
    },
  },
  {
    name: 'agents release',
    summary: 'Give back the steps and claims that an agent holds, as if it had left.',
    positionals: ['AGENT'],
    async run(invocation) {
      const released = await ask(invocation, 'agents.release', { agent_id: invocation.positionals[0] });
      const { agent_id, steps_released, claims_released } = released;
      return { json: { kind: 'agent_released', ...released }, text: `Released ${steps_released} step(s) and ${claims_released} claim(s) of ${agent_id}.` };
    },
  },
];

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 80);

const doing = ({ doing: what, why_blocked }: Agent): string => oneLine(why_blocked?.message ?? what?.text ?? '—');

function holds({ holds: { tasks, steps, claims, locks } }: Agent): string {
  const parts = Object.entries({ task: tasks, step: steps, claim: claims, turn: locks }).flatMap(([name, count]) =>
    count > 0 ? [`${count} ${name}${count > 1 ? 's' : ''}`] : [],
  );
  return parts.join(', ') || '—';
}

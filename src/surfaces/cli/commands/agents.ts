import { calling, type ItemOf } from '../ask.ts';
import { type CliCommand, given } from '../command.ts';
import { age, counted, list, oneLine } from '../output.ts';

/** Who is at work, as people know them. */
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

/** Which code is in whose hands. */
export const claimCommands: readonly CliCommand[] = [
  calling({
    name: 'claims list',
    summary: 'The live claims of the workspace, newest first.',
    options: { repository: { type: 'string' } },
    action: 'claims.list',
    input: (invocation) => ({ limit: 200, ...given(invocation, 'repository') }),
    kind: 'claim_list',
    only: ['items', 'total'],
    text({ items, total }) {
      const rows = items.map((claim) => [
        claim.claim_id,
        claim.mode,
        claim.agent_type === null ? claim.developer : `${claim.agent_type}@${claim.developer}`,
        new Date(claim.expires_at).toISOString(),
        `${claim.repo}: ${[...claim.paths, ...claim.symbols].join(', ')}`,
      ]);
      return list(['CLAIM', 'MODE', 'HOLDER', 'EXPIRES', 'PATTERN'], rows, 'Nobody holds any code.', total);
    },
  }),
  calling({
    name: 'claims release',
    summary: 'End a claim, so that others can claim the code.',
    positionals: { ID: 'claim_id' },
    action: 'claims.release',
    kind: 'claim_released',
    text: ({ claim_id }) => `Released ${claim_id}.`,
  }),
];

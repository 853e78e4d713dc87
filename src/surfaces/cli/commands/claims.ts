import type { listClaims, releaseByHand } from '../../../features/team/coordination/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand } from '../command.ts';
import { table } from '../output.ts';

interface Answers {
  'claims.list': Output<typeof listClaims>;
  'claims.release': Output<typeof releaseByHand>;
}

const ask = asking<Answers>();

/** Which code is in whose hands. */
export const claimCommands: readonly CliCommand[] = [
  {
    name: 'claims list',
    summary: 'The live claims of the workspace, newest first.',
    options: { repository: { type: 'string' } },
    async run(invocation) {
      const { repository } = invocation.values;
      const { items, total } = await ask(invocation, 'claims.list', { limit: 200, ...(repository === undefined ? {} : { repository }) });
      const rows = items.map((claim) => [
        claim.claim_id,
        claim.mode,
        claim.agent_type === null ? claim.developer : `${claim.agent_type}@${claim.developer}`,
        new Date(claim.expires_at).toISOString(),
        `${claim.repo}: ${[...claim.paths, ...claim.symbols].join(', ')}`,
      ]);
      const text = items.length === 0 ? 'Nobody holds any code.' : table(['CLAIM', 'MODE', 'HOLDER', 'EXPIRES', 'PATTERN'], rows);
      return {
        json: { kind: 'claim_list', items, total },
        text: `${text}${total > items.length ? `\n(the newest ${items.length} of ${total})` : ''}`,
      };
    },
  },
  {
    name: 'claims release',
    summary: 'End a claim, so that others can claim the code.',
    positionals: ['ID'],
    async run(invocation) {
      const { claim_id } = await ask(invocation, 'claims.release', { claim_id: invocation.positionals[0] });
      return { json: { kind: 'claim_released', claim_id }, text: `Released ${claim_id}.` };
    },
  },
];

import { calling } from '../call.ts';
import { type CliCommand, given } from '../command.ts';
import { list } from '../output.ts';

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

import { calling } from '../call.ts';
import { type CliCommand, option } from '../command.ts';
import { list, type TableShape } from '../output.ts';

export const claimCommands: readonly CliCommand[] = [
  calling({
    name: 'claims list',
    summary: 'List the current claims on files and symbols, newest first.',
    options: { repo: { value: 'NAME', description: 'Only claims in the repository with this name.', formerly: 'repository' } },
    examples: ['claims list', 'claims list --repo shop'],
    action: 'claims.list',
    input(invocation) {
      const repository = option(invocation, 'repo');
      return { limit: 200, ...(repository === undefined ? {} : { repository }) };
    },
    kind: 'claim_list',
    only: ['items', 'total'],
    text({ items, total }, { out }) {
      const rows = items.map((claim) => [
        claim.claim_id,
        claim.mode,
        claim.agent_type === null ? claim.developer : `${claim.agent_type}@${claim.developer}`,
        new Date(claim.expires_at).toISOString(),
        `${claim.repo}: ${[...claim.paths, ...claim.symbols].join(', ')}`,
      ]);
      return list(CLAIMS, rows, { none: 'No files are claimed.', total, columns: out.columns });
    },
  }),
  calling({
    name: 'claims release',
    summary: 'End a claim, so that others can claim the files.',
    arguments: [{ name: 'ID', description: 'The claim id, or the last characters of the id.', field: 'claim_id' }],
    examples: ['claims release clm_01JABCDEF'],
    action: 'claims.release',
    kind: 'claim_released',
    text: ({ claim_id }) => `Released ${claim_id}.`,
  }),
];

const CLAIMS: TableShape = {
  head: ['CLAIM', 'MODE', 'HOLDER', 'EXPIRES', 'PATTERN'],
  narrow: [
    ['EXPIRES', 16],
    ['HOLDER', 14],
    ['EXPIRES', 0],
    ['PATTERN', 12],
  ],
};

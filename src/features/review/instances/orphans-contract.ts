import { z } from 'zod';
import { contract, READ } from '../../../kernel/contract.ts';
import { absolutePath } from '../../../kernel/fields.ts';

const orphan = z.strictObject({
  kind: z.enum(['session', 'worktree']),
  /** Of the session, or of the worktree's folder. */
  name: z.string(),
  path: z.string().nullable(),
  branch: z.string().nullable(),
  reason: z.string().nullable().describe('Why it is not simply taken away: work would be lost.'),
  command: z.array(z.string()).nullable().describe('What mends it; null where a person has to look.'),
});

export type Orphan = z.output<typeof orphan>;

export const instancesOrphans = contract({
  name: 'instances.orphans',
  toolset: 'admin',
  access: 'server',
  title: 'What no instance needs',
  description: 'Sessions and worktrees of instances that are over, or that nobody knows of, on this machine; of all workspaces.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(orphan) }),
  annotations: READ,
});

export const instancesClearOrphans = contract({
  name: 'instances.clear_orphans',
  toolset: 'admin',
  access: 'server',
  title: 'Clear what no instance needs',
  description: 'Ends such sessions, and removes such worktrees where nothing is lost by it.',
  input: z.strictObject({ force: absolutePath.optional().describe('A worktree that is removed all the same; a backup ref keeps what is in it.') }),
  output: z.strictObject({ items: z.array(orphan.extend({ cleared: z.boolean(), backup_ref: z.string().nullable() })) }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

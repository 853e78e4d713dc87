import { z } from 'zod';
import { contract } from '../../kernel/contract.ts';

export const demoBegin = contract({
  name: 'demo.begin',
  toolset: 'admin',
  opensWorkspace: true,
  title: 'Begin a demo',
  description: 'Makes room for scripted agents in the workspace demo: a folder for their repository, and an external server of their own.',
  input: z.strictObject({}),
  output: z.strictObject({ folder: z.string(), server: z.string() }),
});

export const demoEnd = contract({
  name: 'demo.end',
  toolset: 'admin',
  title: 'End a demo',
  description: 'Revokes every token of the workspace demo and removes what its agents did. Its journal stays. With keep, the data stays for looking.',
  input: z.strictObject({ keep: z.boolean() }),
  output: z.strictObject({ revoked_tokens: z.int(), removed_rows: z.int(), kept: z.boolean() }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

import { z } from 'zod';
import { contract, OPERATOR_READ } from '../../../kernel/contract.ts';

export const demoBegin = contract({
  name: 'demo.begin',
  toolset: 'admin',
  opensWorkspace: true,
  title: 'Begin a demo',
  description: 'Makes room for scripted agents in the workspace demo: a folder for their repository, and an external server of their own.',
  input: z.strictObject({}),
  output: z.strictObject({ folder: z.string(), server: z.string() }),
});

export const DEMO_STATES = ['none', 'begun', 'kept', 'ended'] as const;
export type DemoState = (typeof DEMO_STATES)[number];

export const demoShow = contract({
  ...OPERATOR_READ,
  name: 'demo.show',
  title: 'How a demo stands',
  description:
    "Whether there is a demo in the workspace demo. Where there is none, what is in the workspace is somebody's work, and nothing of it may be ended.",
  input: z.strictObject({}),
  output: z.strictObject({ state: z.enum(DEMO_STATES) }),
});

export const demoEnd = contract({
  name: 'demo.end',
  toolset: 'admin',
  title: 'End a demo',
  description:
    'Revokes every token of the workspace demo and removes what its agents did. Its journal stays. With keep, the data stays for looking. Where no demo was begun, nothing is touched.',
  input: z.strictObject({ keep: z.boolean() }),
  output: z.strictObject({ revoked_tokens: z.int(), removed_rows: z.int(), kept: z.boolean() }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

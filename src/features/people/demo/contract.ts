import { z } from 'zod';
import { contract, OPERATOR_READ } from '../../../kernel/contract.ts';

export const demoBegin = contract({
  name: 'demo.begin',
  toolset: 'admin',
  opensWorkspace: true,
  title: 'Start the demo',
  description: 'Prepare the workspace demo for scripted agents: create a folder for their repository and attach their external server.',
  input: z.strictObject({}),
  output: z.strictObject({ folder: z.string(), server: z.string() }),
});

export const DEMO_STATES = ['none', 'begun', 'kept', 'ended'] as const;
export type DemoState = (typeof DEMO_STATES)[number];

export const demoShow = contract({
  ...OPERATOR_READ,
  name: 'demo.show',
  title: 'Demo state',
  description: 'Return the state of the demo in the workspace demo. If there is no demo, the workspace belongs to people, and nothing in it may be removed.',
  input: z.strictObject({}),
  output: z.strictObject({ state: z.enum(DEMO_STATES) }),
});

export const demoEnd = contract({
  name: 'demo.end',
  toolset: 'admin',
  title: 'End the demo',
  description:
    'Revoke every token of the workspace demo and delete its data, except its journal. With `keep`, the data stays. If there is no demo, nothing changes.',
  input: z.strictObject({ keep: z.boolean() }),
  output: z.strictObject({ revoked_tokens: z.int(), removed_rows: z.int(), kept: z.boolean() }),
  annotations: { destructiveHint: true, idempotentHint: true },
});

import { z } from 'zod';
import { contract, OPERATOR_READ } from '../../../kernel/contract.ts';

export const serverStatus = contract({
  ...OPERATOR_READ,
  name: 'server.status',
  title: 'Show server status',
  description: 'Show version, store, counts and recent activity of this server.',
  input: z.strictObject({}),
  output: z.strictObject({
    version: z.string(),
    store: z.enum(['sqlite', 'postgres']),
    schema: z.int(),
    started_at: z.int(),
    workspace: z.string(),
    developers: z.int(),
    tokens: z.int(),
    tools: z.int(),
    events: z.int(),
    last_event_at: z.int().nullable(),
    refused_24h: z.int(),
  }),
});

export const backupStore = contract({
  name: 'server.backup',
  toolset: 'admin',
  access: 'server',
  title: 'Back up',
  description: 'Copy the SQLite database consistently while the server runs. The journal anchors and their key are copied to the folder PATH.anchors.',
  input: z.strictObject({ path: z.string().min(1).max(4_096).describe('Absolute path on the server; must not exist yet.') }),
  output: z.strictObject({ path: z.string(), bytes: z.int() }),
});

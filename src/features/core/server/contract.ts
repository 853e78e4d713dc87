import { z } from 'zod';
import { contract, OPERATOR_READ } from '../../../kernel/contract.ts';

export const serverStatus = contract({
  ...OPERATOR_READ,
  name: 'server.status',
  title: 'Status',
  description: 'What this server is, what it holds and what it did lately.',
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
  description:
    'A consistent copy of the SQLite database, taken while the server works. The anchors of the journal and their key are copied beside it, to path.anchors.',
  input: z.strictObject({ path: z.string().min(1).max(4_096).describe('An absolute path on the server, which must not exist.') }),
  output: z.strictObject({ path: z.string(), bytes: z.int() }),
});

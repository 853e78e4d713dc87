import { z } from 'zod';
import { contract, READ } from '../../kernel/contract.ts';

export const echo = contract({
  name: 'echo',
  toolset: 'gateway',
  title: 'Echo',
  description: 'Returns the provided text argument verbatim.',
  input: z.strictObject({ text: z.string() }),
  output: z.strictObject({ text: z.string() }),
  annotations: READ,
});

export const clock = contract({
  name: 'clock',
  toolset: 'gateway',
  title: 'Clock',
  description: "Returns the server's time in milliseconds since the epoch. A liveness probe: it needs no capability.",
  input: z.strictObject({}),
  output: z.strictObject({ epoch_ms: z.int().min(0) }),
  annotations: { readOnlyHint: true },
});

export const listTools = contract({
  name: 'tools.list',
  toolset: 'admin',
  access: 'member',
  title: 'List the catalogue',
  description: 'Every tool, native or of an external server, whether the caller may call it, and its calls in the last 24 hours.',
  input: z.strictObject({}),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        name: z.string(),
        title: z.string(),
        description: z.string(),
        toolset: z.string(),
        server: z.string(),
        state: z.enum(['up', 'starting', 'down', 'withheld']).describe('Of its server; withheld: not offered until a person approves it.'),
        you: z.enum(['open', 'yes', 'no']).describe('open: needs no grant.'),
        calls_24h: z.int(),
        inputSchema: z.record(z.string(), z.unknown()),
        outputSchema: z.record(z.string(), z.unknown()).optional(),
        annotations: z.record(z.string(), z.unknown()).describe('Of an external tool as its server says: nothing to rely on.'),
      }),
    ),
  }),
  annotations: READ,
});

import { z } from 'zod';
import { contract, MEMBER_READ, READ } from '../../../kernel/contract.ts';

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

const state = z.enum(['up', 'starting', 'down', 'withheld']).describe('Of its server; withheld: not offered until a person approves it.');
const you = z.enum(['open', 'yes', 'no']).describe('open: needs no grant.');
const definition = {
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  annotations: z.record(z.string(), z.unknown()).describe('Of an external tool as its server says: nothing to rely on.'),
};

export const listTools = contract({
  ...MEMBER_READ,
  name: 'tools.list',
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
        state,
        you,
        calls_24h: z.int(),
        ...definition,
      }),
    ),
  }),
});

const used = {
  calls_24h: z.int(),
  errors_24h: z.int().describe('Calls that were denied, blocked or failed.'),
  p95_ms: z.number().nullable().describe('95 of 100 of the latest calls took no longer; null where there was none.'),
};

const shortTool = z.strictObject({
  name: z.string(),
  title: z.string(),
  toolset: z.string(),
  server: z.string(),
  state,
  you,
  tokens: z.int().nullable().describe("What its definition takes of a model's context; null where it is withheld."),
  ...used,
});

export const pageOfTools = contract({
  ...MEMBER_READ,
  name: 'tools.page',
  title: 'A page of the catalogue',
  description: 'Tools in short, in the order of their names: the size of their definitions and how they were used in the last 24 hours.',
  input: z.strictObject({
    text: z.string().trim().min(1).max(200).optional().describe('Only tools with this in their name.'),
    server: z.string().min(1).max(100).optional().describe("Only tools of this server; native for the product's own."),
    state: state.optional(),
    limit: z.int().min(1).max(200).default(100),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({ items: z.array(shortTool), total: z.int() }),
});

export const showTool = contract({
  ...MEMBER_READ,
  name: 'tools.show',
  title: 'A tool',
  description: 'One tool of the catalogue with its definition, as it is offered.',
  input: z.strictObject({ name: z.string().min(1).max(200) }),
  output: z.strictObject({ ...shortTool.shape, description: z.string(), ...definition }),
});

export const toolUsage = contract({
  ...MEMBER_READ,
  name: 'tools.usage',
  title: 'Calls by server',
  description: 'How the tools of each server were used in the last 24 hours, the native ones together.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(z.strictObject({ server: z.string(), tools: z.int().describe('Offered.'), ...used })) }),
});

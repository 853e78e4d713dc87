import { z } from 'zod';
import { contract, MEMBER_READ, READ } from '../../../kernel/contract.ts';

export const echo = contract({
  name: 'echo',
  toolset: 'gateway',
  title: 'Echo',
  description: 'Return the given text unchanged.',
  input: z.strictObject({ text: z.string() }),
  output: z.strictObject({ text: z.string() }),
  annotations: READ,
});

export const clock = contract({
  name: 'clock',
  toolset: 'gateway',
  title: 'Clock',
  description: 'Return the server time in milliseconds since the epoch. Liveness probe; needs no capability.',
  input: z.strictObject({}),
  output: z.strictObject({ epoch_ms: z.int().min(0) }),
  annotations: { readOnlyHint: true },
});

const state = z.enum(['up', 'starting', 'down', 'withheld']).describe('State of its server. withheld: not offered until a person approves it.');
const you = z.enum(['open', 'yes', 'no']).describe('Whether the caller may call it. open: needs no grant.');
const definition = {
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  annotations: z.record(z.string(), z.unknown()).describe("For an external tool, its server's own claims: not reliable."),
};

export const listTools = contract({
  ...MEMBER_READ,
  name: 'tools.list',
  title: 'List tools',
  description: 'List every tool, native or external, whether the caller may call it, and its calls in the last 24 hours.',
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
  errors_24h: z.int().describe('Denied, blocked and failed calls.'),
  p95_ms: z.number().nullable().describe('95th percentile of the latest calls; null without calls.'),
};

const shortTool = z.strictObject({
  name: z.string(),
  title: z.string(),
  toolset: z.string(),
  server: z.string(),
  state,
  you,
  tokens: z.int().nullable().describe("Tokens of the definition in a model's context; null if withheld."),
  ...used,
});

export const pageOfTools = contract({
  ...MEMBER_READ,
  name: 'tools.page',
  title: 'List tools in pages',
  description: 'List tools by name in short form, with the size of their definitions and their use in the last 24 hours.',
  input: z.strictObject({
    text: z.string().trim().min(1).max(200).optional().describe('Only tools whose name contains this.'),
    server: z.string().min(1).max(100).optional().describe('Only tools of this server; "native" for Covenant\'s own.'),
    state: state.optional(),
    limit: z.int().min(1).max(200).default(100),
    offset: z.int().min(0).default(0),
  }),
  output: z.strictObject({ items: z.array(shortTool), total: z.int() }),
});

export const showTool = contract({
  ...MEMBER_READ,
  name: 'tools.show',
  title: 'Show a tool',
  description: 'Show one tool of the catalogue with its definition as offered.',
  input: z.strictObject({ name: z.string().min(1).max(200) }),
  output: z.strictObject({ ...shortTool.shape, description: z.string(), ...definition }),
});

export const toolUsage = contract({
  ...MEMBER_READ,
  name: 'tools.usage',
  title: 'Calls by server',
  description: 'Show how the tools of each server were used in the last 24 hours; native tools together.',
  input: z.strictObject({}),
  output: z.strictObject({ items: z.array(z.strictObject({ server: z.string(), tools: z.int().describe('Number of offered tools.'), ...used })) }),
});

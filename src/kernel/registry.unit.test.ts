import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Contract, contract } from './contract.ts';
import { publish } from './publish.ts';
import { ok } from './reply.ts';
import { implement } from './tool.ts';

const output = z.strictObject({ id: z.string() });
const operation = (name: string, op: string | undefined, input: z.ZodObject, extra: Partial<Contract> = {}) =>
  implement(contract({ name, ...(op ? { operation: op } : {}), toolset: 'team', title: 'T', description: `Does ${op ?? name}.`, input, output, ...extra }), {
    read: async () => ok({ id: 'x' }),
  });

test('publishes operations as one flat object with a required `operation` and no top-level oneOf [transport.tools.flat-schema]', () => {
  const [tool] = publish([
    operation('covibe_task', 'check', z.strictObject({ title: z.string().describe('What.') }), { about: 'For work.' }),
    operation('covibe_task', 'start', z.strictObject({ title: z.string().describe('What.'), force: z.boolean().optional() })),
  ]);
  expect(tool?.inputSchema).toEqual({
    type: 'object',
    properties: {
      operation: { type: 'string', enum: ['check', 'start'], description: 'check: Does check.\nstart: Does start.' },
      title: { type: 'string', description: 'What. Required by check, start.' },
      force: { type: 'boolean', description: 'Optional in start.' },
    },
    required: ['operation'],
    additionalProperties: false,
  });
  for (const schema of [tool?.inputSchema, tool?.outputSchema]) for (const key of ['oneOf', 'anyOf', 'allOf']) expect(schema).not.toHaveProperty(key);
});

test('refuses two schemas for one field name within a tool', () => {
  const clash = [operation('t', 'a', z.strictObject({ x: z.string() }), { about: 'For a clash.' }), operation('t', 'b', z.strictObject({ x: z.number() }))];
  expect(() => publish(clash)).toThrow('field x of operation b');
});

test('refuses tool names that are equal once dots become underscores [transport.tools.names-distinct]', () => {
  const twins = [operation('cycle.start', undefined, z.strictObject({})), operation('cycle_start', undefined, z.strictObject({}))];
  expect(() => publish(twins)).toThrow('cycle.start and cycle_start');
});

test('refuses a description over 4,000 characters [transport.tools.description-limit]', () => {
  expect(() => publish([operation('t', undefined, z.strictObject({}), { description: 'x'.repeat(4_001) })])).toThrow('4001 characters');
});

test('refuses a repeated operation and a mix of operations with a contract that has none', () => {
  const a = operation('t', 'a', z.strictObject({}));
  expect(() => publish([a, a])).toThrow('twice');
  expect(() => publish([a, operation('t', undefined, z.strictObject({}))])).toThrow('mixes');
});

test('a tool with operations has a description of its purpose, and each operation has its own', () => {
  const check = operation('covibe_task', 'check', z.strictObject({}), { about: 'For work.' });
  const [tool] = publish([check, operation('covibe_task', 'start', z.strictObject({}))]);
  expect(tool).toMatchObject({
    description: 'For work.',
    inputSchema: { properties: { operation: { description: 'check: Does check.\nstart: Does start.' } } },
  });
  expect(() => publish([operation('covibe_task', 'start', z.strictObject({}))])).toThrow('covibe_task describes its operations but not its purpose (about)');
});

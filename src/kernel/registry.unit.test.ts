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

test('operations are published as one flat object in which operation is required, and no top-level oneOf [transport.tools.flat-schema]', () => {
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

test('one field name has one schema within a tool', () => {
  const clash = [operation('t', 'a', z.strictObject({ x: z.string() }), { about: 'For a clash.' }), operation('t', 'b', z.strictObject({ x: z.number() }))];
  expect(() => publish(clash)).toThrow('field x of operation b');
});

test('names that are equal when each dot is written as an underscore are refused [transport.tools.names-distinct]', () => {
  const twins = [operation('cycle.start', undefined, z.strictObject({})), operation('cycle_start', undefined, z.strictObject({}))];
  expect(() => publish(twins)).toThrow('cycle.start and cycle_start');
});

test('a description over 4,000 characters is refused [transport.tools.description-limit]', () => {
  expect(() => publish([operation('t', undefined, z.strictObject({}), { description: 'x'.repeat(4_001) })])).toThrow('4001 characters');
});

test('an operation twice, or beside a contract without one, is refused', () => {
  const a = operation('t', 'a', z.strictObject({}));
  expect(() => publish([a, a])).toThrow('twice');
  expect(() => publish([a, operation('t', undefined, z.strictObject({}))])).toThrow('mixes');
});

test('a tool with operations is described by what it is for; what each operation does stands beside their names, and neither may be missing', () => {
  const check = operation('covibe_task', 'check', z.strictObject({}), { about: 'For work.' });
  const [tool] = publish([check, operation('covibe_task', 'start', z.strictObject({}))]);
  expect(tool).toMatchObject({
    description: 'For work.',
    inputSchema: { properties: { operation: { description: 'check: Does check.\nstart: Does start.' } } },
  });
  expect(() => publish([operation('covibe_task', 'start', z.strictObject({}))])).toThrow(
    'covibe_task says what each operation does, and nowhere what it is for',
  );
});

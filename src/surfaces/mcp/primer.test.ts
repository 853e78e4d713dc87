import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { servedApp } from '../../testing/app.ts';
import { connected, ERAS, type Era } from '../../testing/mcp-client.ts';

const MAX_TOKENS = 700;

interface Described {
  enum?: string[];
  description?: string;
}

/** The texts that the agent of a developer gets before its first call. */
async function primer(era?: Era) {
  const { url, ...t } = await servedApp();
  const client = await connected(`${url}/mcp`, (await t.developer('ana')).token, era);
  return { instructions: client.getInstructions() ?? '', tools: (await client.listTools()).tools, app: t.app };
}

test.each(ERAS)('keeps the instructions and the tool descriptions of /mcp within 700 tokens together, for a %s client', async (era) => {
  const { instructions, tools } = await primer(era);
  expect(tools.length).toBeGreaterThan(8);
  const texts = [instructions, ...tools.map(({ description }) => description ?? '')];
  for (const text of texts) expect(countTokens(text)).toBeGreaterThan(5);
  expect(texts.reduce((sum, text) => sum + countTokens(text), 0)).toBeLessThanOrEqual(MAX_TOKENS);
});

test('the instructions name the steps of a task in order, and name only tools and fields that exist', async () => {
  const { instructions, tools } = await primer();
  const steps = [
    'covibe_session start',
    'heartbeat',
    'covibe_task check',
    'requires_verdict',
    'covibe_task start',
    'scope_verdict',
    'covibe_coordination claim',
    'covibe_task complete',
  ];
  expect(steps.map((step) => instructions.indexOf(step))).toEqual(steps.map((step) => instructions.indexOf(step)).toSorted((a, b) => a - b));
  for (const step of steps) expect(instructions).toContain(step);
  // Every tool and field that the instructions name exists.
  const fieldsOf = (schema: unknown) => Array.from(JSON.stringify(schema).matchAll(/"(\w+)":/g), ([, field]) => field);
  const known = tools.flatMap(({ name, inputSchema, outputSchema }) => [name, ...fieldsOf([inputSchema, outputSchema])]);
  for (const [word] of instructions.matchAll(/\b[a-z]+_[a-z_]+\b/g)) expect(known).toContain(word);
});

test('the schema of a tool describes every operation with the description in its contract', async () => {
  const { tools, app } = await primer();
  const several = app.registry.tools().filter((tool) => tool.toolset === 'team' && !tool.operations.has(null));
  expect(several.length).toBeGreaterThan(4);
  for (const { name, operations } of several) {
    const { enum: named, description = '' } = (tools.find((tool) => tool.name === name)?.inputSchema.properties?.operation ?? {}) as Described;
    expect(named).toEqual([...operations.keys()]);
    const lines = description.split('\n');
    expect(lines).toEqual([...operations].map(([operation, { contract }]) => `${operation}: ${contract.description}`));
    for (const line of lines) expect(line.length).toBeGreaterThan(20);
  }
});

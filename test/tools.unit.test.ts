import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { publishedTools } from '../src/testing/catalogue.ts';

const tools = await publishedTools();

test('every published tool has a description, annotations, and an input and output schema that every client can read [transport.tools.flat-schema] [transport.tools.description-limit]', () => {
  for (const tool of tools) {
    expect(tool.title.length).toBeGreaterThan(0);
    expect(tool.description.length).toBeGreaterThan(10);
    expect(tool.description.length).toBeLessThanOrEqual(4_000);
    expect(Object.keys(tool.annotations).sort()).toEqual(['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint']);
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
      expect(schema.type).toBe('object');
      for (const key of ['oneOf', 'anyOf', 'allOf']) expect([tool.name, Object.hasOwn(schema, key)]).toEqual([tool.name, false]);
    }
    expect(tool.inputSchema.additionalProperties).toBe(false);
    if (!tool.operations.has(null)) expect(tool.inputSchema.required).toEqual(['operation']);
  }
});

test('names are as documented, and distinct when each dot is written as an underscore [transport.tools.names-as-written] [transport.tools.names-distinct]', () => {
  const names = tools.map((tool) => tool.name);
  expect(names).toEqual(expect.arrayContaining(['clock', 'echo']));
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
  expect(new Set(names.map((name) => name.replaceAll('.', '_'))).size).toBe(names.length);
});

test('the published schemas are those on record: npm run docs writes them anew, and the difference is for a person to read', () => {
  const recorded = JSON.parse(readFileSync(new URL('published-tools.json', import.meta.url), 'utf8')) as unknown;
  const published = tools.map(({ name, title, description, toolset, annotations, inputSchema, outputSchema }) => ({
    name,
    title,
    description,
    toolset,
    annotations,
    inputSchema,
    outputSchema,
  }));
  expect(JSON.parse(JSON.stringify(published))).toEqual(recorded);
});

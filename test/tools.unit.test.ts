import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configurationReference } from '../scripts/configuration-reference.ts';
import { CLIENT_VARIABLES } from '../src/clients/environment.ts';
import { ALL_CLIENTS } from '../src/clients/index.ts';
import { ENVIRONMENT } from '../src/config.ts';
import { publishedTools } from '../src/testing/catalogue.ts';
import { ENVIRONMENT_VARIABLES } from '../src/wire/environment.ts';

const tools = await publishedTools();

/** An example for each style of names in the contracts. */
const DOCUMENTED = [
  'clock',
  'echo',
  'covibe_ingest_agent_telemetry',
  'create_pull_request',
  'task_load_context',
  'cycle.start',
  'session.open',
  'handoff.write',
];

test('every published tool has a description, annotations, and schemas that every client can read [transport.tools.flat-schema] [transport.tools.description-limit]', () => {
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

test('tool names are as documented, and distinct once dots become underscores [transport.tools.names-as-written] [transport.tools.names-distinct]', () => {
  const names = tools.map((tool) => tool.name);
  expect(names).toEqual(expect.arrayContaining(DOCUMENTED));
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
  expect(new Set(names.map((name) => name.replaceAll('.', '_'))).size).toBe(names.length);
});

test('the recorded schemas are current (npm run docs rewrites them for a person to review)', () => {
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

const WORK = ['title', 'task_type'];
const WORDS = ['scope', 'action', 'component', 'target_files'];
const ANSWER = ['check_id', 'scope_verdict', 'warning_id', 'confirmation_reason'];

const SHAPES: [row: string, tool: string, operation: string, required: string[], optional: string[]][] = [
  ['[team.check.shape]', 'covibe_task', 'check', WORK, [...WORDS, 'planned_task_id', 'session_id']],
  ['[team.plan.shape]', 'covibe_task', 'plan', WORK, ['description', ...WORDS, 'priority', 'workstream_id', 'session_id']],
  ['[team.start.shape]', 'covibe_task', 'start', WORK, ['description', ...WORDS, 'workstream_id', 'session_id', ...ANSWER]],
  ['[team.start-planned.shape]', 'covibe_task', 'start_planned', ['planned_task_id'], [...ANSWER, 'session_id']],
  [
    '[team.update.shape]',
    'covibe_task',
    'update',
    ['task_id'],
    ['status', 'title', 'description', 'scope', 'action', 'component', 'priority', 'task_type', 'session_id'],
  ],
  ['[team.complete.shape]', 'covibe_task', 'complete', ['task_id', 'result_summary'], ['summary', 'session_id']],
  ['[team.cancel.shape]', 'covibe_task', 'cancel', ['task_id', 'reason'], ['session_id']],
  ['[team.workstream-check.shape]', 'covibe_workstream', 'check', ['title'], ['session_id']],
  ['[team.workstream-plan.shape]', 'covibe_workstream', 'plan', ['title'], ['session_id']],
  ['[team.workstream-start.shape]', 'covibe_workstream', 'start', ['title'], [...ANSWER, 'session_id']],
  ['[team.workstream-start-planned.shape]', 'covibe_workstream', 'start_planned', ['planned_workstream_id'], [...ANSWER, 'session_id']],
  ['[team.workstream-update.shape]', 'covibe_workstream', 'update', ['workstream_id', 'status'], ['session_id']],
  ['[team.workstream-complete.shape]', 'covibe_workstream', 'complete', ['workstream_id', 'result_summary'], ['confirm_open_tasks', 'session_id']],
  ['[team.workstream-cancel.shape]', 'covibe_workstream', 'cancel', ['workstream_id', 'reason'], ['session_id']],
];

test.each(SHAPES)('%s %s %s requires exactly these fields and accepts the documented optional ones', (_, tool, operation, required, optional) => {
  const shape = tools.find(({ name }) => name === tool)?.operations.get(operation)?.contract.input.shape ?? {};
  const demanded = Object.keys(shape).filter((field) => !shape[field]?.safeParse(undefined).success);
  expect(demanded.sort()).toEqual([...required].sort());
  expect(Object.keys(shape)).toEqual(expect.arrayContaining(optional));
});

test('docs/configuration.md is current (npm run docs rewrites it) [use.docs.generated]', () => {
  expect(readFileSync('docs/configuration.md', 'utf8')).toBe(configurationReference());
});

test('every environment variable that the source reads is in a table of environment variables', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /\.ts$/.test(name) && !/\.test\.ts$|^testing\//.test(name));
  const read = files.flatMap((name) =>
    [...readFileSync(`src/${name}`, 'utf8').matchAll(/\benv(?:\?\.|\.|\[')([A-Z][A-Z0-9_]*)\b/g)].map(([, variable]) => variable),
  );
  const listed = [...Object.values(ENVIRONMENT_VARIABLES), CLIENT_VARIABLES].flatMap((variables) => variables.map(({ name }) => name));
  const ofClients = ALL_CLIENTS.flatMap(({ folderVariables, commandMarks: { set, run } }) => [...folderVariables, ...set, ...(run ? [run] : [])]);
  expect(new Set(listed).size).toBe(listed.length);
  expect([...read, ...ofClients, ...Object.keys(ENVIRONMENT)].filter((name) => !listed.includes(name as string))).toEqual([]);
});

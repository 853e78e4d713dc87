import { expect, test } from 'vitest';
import type { Invocation } from '../command.ts';
import { priceCommands, usageCommand } from './usage.ts';

const COUNTS = { cache_creation_tokens: 0, reasoning_tokens: 0, total_tokens: 0, mismatches: 0 };
const row = (about: object) => ({ day: null, developer: 'mira', agent_type: 'codex', agent_id: null, model: 'gpt-5', task: null, ...COUNTS, ...about });
const ANSWER = {
  items: [
    row({ spans: 2, sessions: 1, input_tokens: 10, cached_input_tokens: 5, output_tokens: 3, cost_usd: 2.8, unpriced: 1 }),
    row({
      agent_type: null,
      developer: '@private',
      model: null,
      spans: 1,
      sessions: 0,
      input_tokens: 1,
      cached_input_tokens: 0,
      output_tokens: 1,
      cost_usd: null,
      unpriced: 1,
    }),
  ],
  totals: { spans: 3, sessions: 1, input_tokens: 11, cached_input_tokens: 5, output_tokens: 4, cost_usd: 2.8, unpriced: 2, ...COUNTS },
  left_out: 0,
};

async function run(name: string, values: Invocation['values'], positionals: string[] = []) {
  const asked: unknown[] = [];
  const action = async (...call: unknown[]) => {
    asked.push(call);
    return name === 'usage' ? ANSWER : { model: 'acme-1', version: 'workspace-1' };
  };
  const command = [usageCommand, ...priceCommands].find((each) => each.name === name);
  const out = { columns: Number.POSITIVE_INFINITY };
  const result = await command?.run({ values, positionals, out, client: async () => ({ action }) } as unknown as Invocation);
  return { result, asked };
}

test('shows a dash for an unknown cost and a plus for a partly known cost, and the same totals as --json', async () => {
  const { result, asked } = await run('usage', { by: 'agent', days: '7' });
  expect(asked).toEqual([['usage.list', { by: ['developer', 'agent', 'model'], days: 7 }]]);
  expect(result?.text.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['AGENT', 'MODEL', 'INPUT', 'CACHED', 'OUTPUT', 'SESSIONS', 'COST'],
    ['codex@mira', 'gpt-5', '10', '5', '3', '1', '$2.80+'],
    ['@private', '—', '1', '0', '1', '—', '—'],
    ['total', '11', '5', '4', '1', '$2.80+'],
  ]);
  expect(result?.json).toMatchObject({ kind: 'usage', totals: ANSWER.totals });
});

test('sets a price in dollars, restores the default, and refuses a missing or invalid price', async () => {
  const { asked } = await run('prices set', { input: '1', output: '2', 'cache-write-1h': '3' }, ['acme-1']);
  expect(asked).toMatchObject([['prices.set', { model: 'acme-1', price: { input: 1, output: 2, cache_write_1h: 3 } }]]);
  await expect(run('prices set', { input: '1' }, ['acme-1'])).rejects.toThrow('`--output` is missing');
  await expect(run('prices set', { input: '1', output: 'two' }, ['acme-1'])).rejects.toThrow('`--output` must be a number');
  await expect(run('usage', { by: 'colour' })).rejects.toThrow('`--by` must be one of agent, day, developer, task');
  for (const [name, ...words] of [
    ['prices set', 'acme-1', 'default'],
    ['prices reset', 'acme-1'],
  ] as const)
    expect((await run(name, {}, words.slice())).asked).toEqual([['prices.set', { model: 'acme-1', price: null }]]);
  await expect(run('prices set', { input: '1', output: '2' }, ['acme-1', 'default'])).rejects.toThrow('either `default` or the prices');
});

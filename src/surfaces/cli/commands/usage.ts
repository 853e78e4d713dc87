import type { CountedUsage, UsageKey, UsageRow } from '../../../features/team/usage/contract.ts';
import { call, calling } from '../call.ts';
import { type CliCommand, numberOption, option, UsageError } from '../command.ts';
import { table } from '../output.ts';

/** As on the dashboard. */
const GROUPINGS: Readonly<Record<string, readonly UsageKey[]>> = {
  agent: ['developer', 'agent', 'model'],
  day: ['day', 'developer', 'agent', 'model'],
  developer: ['developer', 'model'],
  task: ['task', 'developer', 'agent', 'model'],
};

/** Each option, and the figure of the price that it is. */
const FIGURES = { input: 'input', cached: 'cached_input', 'cache-write': 'cache_write', 'cache-write-1h': 'cache_write_1h', output: 'output' } as const;
const NEEDED: readonly string[] = ['input', 'output'];

/** Tokens and what they cost. */
export const usageCommands: readonly CliCommand[] = [
  {
    name: 'usage',
    summary: 'Tokens and cost of the last days, by agent, day, developer or task.',
    options: { days: { type: 'string' }, by: { type: 'string' } },
    async run(invocation) {
      const grouping = option(invocation, 'by') ?? 'agent';
      const by = GROUPINGS[grouping];
      if (!by) throw new UsageError(`--by takes one of ${Object.keys(GROUPINGS).join(', ')}`);
      const days = numberOption(invocation, 'days');
      const { items, totals, left_out } = await call(invocation, 'usage.list', { by, ...(days === undefined ? {} : { days }) });
      return { json: { kind: 'usage', by: grouping, items, totals, left_out }, text: usageText(grouping, items, totals, left_out) };
    },
  },
  calling({
    name: 'prices list',
    summary: 'Dollars for a million tokens of each model.',
    action: 'prices.list',
    kind: 'price_list',
    text({ items }) {
      const cells = items.map(({ model, input, cached_input, cache_write, cache_write_1h, output, version }) => [
        model,
        ...[input, cached_input, cache_write, cache_write_1h, output].map((price) => (price === null ? '—' : String(price))),
        version,
      ]);
      return table(['MODEL', 'INPUT', 'CACHED', 'CACHE WRITE', '1 H', 'OUTPUT', 'FROM'], cells);
    },
  }),
  calling({
    name: 'prices set',
    summary: 'Set what a million tokens of a model cost in dollars; it holds for what is reported from now on.',
    positionals: { MODEL: 'model' },
    options: Object.fromEntries(Object.keys(FIGURES).map((name) => [name, { type: 'string' } as const])),
    action: 'prices.set',
    input(invocation) {
      const missing = NEEDED.find((name) => option(invocation, name) === undefined);
      if (missing) throw new UsageError(`--${missing} is missing`);
      return { price: Object.fromEntries(Object.entries(FIGURES).map(([name, key]) => [key, numberOption(invocation, name)])) };
    },
    kind: 'price',
    text: ({ model, version }) => `The price of ${model} is set (${version}).`,
  }),
  calling({
    name: 'prices reset',
    summary: "Take back the workspace's own price of a model.",
    positionals: { MODEL: 'model' },
    action: 'prices.set',
    input: () => ({ price: null }),
    kind: 'price',
    text: ({ model }) => `The workspace has no price of its own for ${model} any more.`,
  }),
];

function usageText(grouping: string, items: readonly UsageRow[], totals: CountedUsage, leftOut: number): string {
  if (totals.spans === 0) return 'No usage was reported in these days.';
  const lead = grouping === 'day' || grouping === 'task' ? [grouping.toUpperCase()] : [];
  const head = [...lead, grouping === 'developer' ? 'DEVELOPER' : 'AGENT', 'MODEL', 'INPUT', 'CACHED', 'OUTPUT', 'SESSIONS', 'COST'];
  const rows = items.map((row) => [
    ...(grouping === 'day' ? [row.day ?? '—'] : grouping === 'task' ? [row.task ? row.task.title : '—'] : []),
    row.agent_type === null ? (row.developer ?? '—') : `${row.agent_type}@${row.developer}`,
    row.model ?? '—',
    ...counts(row),
  ]);
  const total = [...lead.map(() => ''), 'total', '', ...counts(totals)];
  return [table(head, [...rows, total]), ...(leftOut > 0 ? [`${leftOut} more rows, which the total counts`] : [])].join('\n');
}

const counts = (row: CountedUsage): string[] => [
  String(row.input_tokens),
  String(row.cached_input_tokens),
  String(row.output_tokens),
  row.sessions === 0 ? '—' : String(row.sessions),
  row.cost_usd === null ? '—' : `$${row.cost_usd.toFixed(2)}${row.unpriced > 0 ? '+' : ''}`,
];

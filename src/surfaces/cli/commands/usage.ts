import type { CountedUsage, listPrices, listUsage, setPrice, UsageKey, UsageRow } from '../../../features/team/usage/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { asking, type CliCommand, type Invocation, option, UsageError } from '../command.ts';
import { table } from '../output.ts';

const ask = asking<{ 'usage.list': Output<typeof listUsage>; 'prices.list': Output<typeof listPrices>; 'prices.set': Output<typeof setPrice> }>();

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
      const days = figure(invocation, 'days');
      const { items, totals, left_out } = await ask(invocation, 'usage.list', { by, ...(days === undefined ? {} : { days }) });
      return { json: { kind: 'usage', by: grouping, items, totals, left_out }, text: usageText(grouping, items, totals, left_out) };
    },
  },
  {
    name: 'prices list',
    summary: 'Dollars for a million tokens of each model.',
    async run(invocation) {
      const { items } = await ask(invocation, 'prices.list');
      const cells = items.map(({ model, input, cached_input, cache_write, cache_write_1h, output, version }) => [
        model,
        ...[input, cached_input, cache_write, cache_write_1h, output].map((price) => (price === null ? '—' : String(price))),
        version,
      ]);
      return { json: { kind: 'price_list', items }, text: table(['MODEL', 'INPUT', 'CACHED', 'CACHE WRITE', '1 H', 'OUTPUT', 'FROM'], cells) };
    },
  },
  {
    name: 'prices set',
    summary: 'Set what a million tokens of a model cost in dollars; it holds for what is reported from now on.',
    positionals: ['MODEL'],
    options: Object.fromEntries(Object.keys(FIGURES).map((name) => [name, { type: 'string' } as const])),
    async run(invocation) {
      const missing = NEEDED.find((name) => option(invocation, name) === undefined);
      if (missing) throw new UsageError(`--${missing} is missing`);
      const price = Object.fromEntries(Object.entries(FIGURES).map(([name, key]) => [key, figure(invocation, name)]));
      const set = await ask(invocation, 'prices.set', { model: invocation.positionals[0], price });
      return { json: { kind: 'price', ...set }, text: `The price of ${set.model} is set (${set.version}).` };
    },
  },
  {
    name: 'prices reset',
    summary: "Take back the workspace's own price of a model.",
    positionals: ['MODEL'],
    async run(invocation) {
      const set = await ask(invocation, 'prices.set', { model: invocation.positionals[0], price: null });
      return { json: { kind: 'price', ...set }, text: `The workspace has no price of its own for ${set.model} any more.` };
    },
  },
];

function figure(invocation: Invocation, name: string): number | undefined {
  const text = option(invocation, name);
  if (text === undefined) return undefined;
  if (text.trim() === '' || !Number.isFinite(Number(text))) throw new UsageError(`--${name} is not a number`);
  return Number(text);
}

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

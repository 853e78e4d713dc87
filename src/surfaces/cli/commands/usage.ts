import type { CountedUsage, UsageKey, UsageRow } from '../../../features/team/usage/contract.ts';
import { call, calling } from '../call.ts';
import { type CliCommand, type CommandOptions, type Invocation, numberOption, option, UsageError } from '../command.ts';
import { type TableShape, table } from '../output.ts';

/** The groupings that `--by` accepts. The dashboard has the same groupings. */
const GROUPINGS: Readonly<Record<string, readonly UsageKey[]>> = {
  agent: ['developer', 'agent', 'model'],
  day: ['day', 'developer', 'agent', 'model'],
  developer: ['developer', 'model'],
  task: ['task', 'developer', 'agent', 'model'],
};

/** The options, each with the price field that it sets. */
const FIGURES = { input: 'input', cached: 'cached_input', 'cache-write': 'cache_write', 'cache-write-1h': 'cache_write_1h', output: 'output' } as const;
const price = (what: string) => ({ value: 'USD', description: `The price of a million ${what}, in dollars.` });
const PRICE_OPTIONS = {
  input: { ...price('input tokens'), description: 'The price of a million input tokens, in dollars. Required unless you give `default`.' },
  output: { ...price('output tokens'), description: 'The price of a million output tokens, in dollars. Required unless you give `default`.' },
  cached: { ...price('cached input tokens'), default: 'unknown' },
  'cache-write': { ...price('tokens written to the cache'), default: 'unknown' },
  'cache-write-1h': { ...price('tokens written to the one-hour cache'), default: 'unknown' },
} satisfies CommandOptions;
/** The number of days that `usage` shows by default. A test checks that the server has the same default. */
export const DAYS = 30;
const BY = 'agent';
const NEEDED: readonly string[] = ['input', 'output'];

export const usageCommand: CliCommand = {
  name: 'usage',
  summary: 'Show tokens and cost by agent, day, developer or task.',
  description: 'A plus sign after a cost means that some usage has no known price, so that the cost does not include it.',
  options: {
    days: { value: 'N', description: 'The number of days, including today, from 1 to 366.', default: DAYS },
    by: { value: 'GROUPING', choices: Object.keys(GROUPINGS), description: 'How usage is grouped into rows.', default: BY },
  },
  examples: ['usage', 'usage --days 7 --by task'],
  async run(invocation) {
    const grouping = option(invocation, 'by') ?? BY;
    const by = GROUPINGS[grouping];
    if (!by) throw new UsageError(`\`--by\` must be one of ${Object.keys(GROUPINGS).join(', ')}`);
    const days = numberOption(invocation, 'days');
    const { items, totals, left_out } = await call(invocation, 'usage.list', { by, ...(days === undefined ? {} : { days }) });
    return {
      json: { kind: 'usage', by: grouping, items, totals, left_out },
      text: usageText(grouping, { items, totals, leftOut: left_out, columns: invocation.out.columns }),
    };
  },
};

const PRICES: TableShape = {
  head: ['MODEL', 'INPUT', 'CACHED', 'CACHE WRITE', '1 H', 'OUTPUT', 'FROM'],
  narrow: [
    ['FROM', 0],
    ['MODEL', 20],
    ['1 H', 0],
    ['CACHE WRITE', 0],
  ],
};
const MODEL = { name: 'MODEL', description: 'The name of the model.', field: 'model' } as const;

export const priceCommands: readonly CliCommand[] = [
  calling({
    name: 'prices list',
    summary: 'List the price of each model, in dollars per million tokens.',
    examples: ['prices list'],
    action: 'prices.list',
    kind: 'price_list',
    text({ items }, { out }) {
      const cells = items.map(({ model, input, cached_input, cache_write, cache_write_1h, output, version }) => [
        model,
        ...[input, cached_input, cache_write, cache_write_1h, output].map((price) => (price === null ? '—' : String(price))),
        version,
      ]);
      return table(PRICES, cells, out.columns);
    },
  }),
  calling({
    name: 'prices set',
    summary: 'Set the price of a model. The price applies to later usage.',
    description: '`prices set MODEL default` removes the price that the workspace has set.',
    arguments: [MODEL, { name: 'default', description: 'Use the built-in price again.', choices: ['default'], optional: true, field: 'price' }],
    options: PRICE_OPTIONS,
    examples: ['prices set acme-1 --input 2.5 --output 10', 'prices set acme-1 default'],
    action: 'prices.set',
    input(invocation) {
      if (isDefault(invocation)) return { price: null };
      const missing = NEEDED.find((name) => option(invocation, name) === undefined);
      if (missing) throw new UsageError(`\`--${missing}\` is missing. Example: covenant prices set acme-1 --input 2.5 --output 10`);
      return { price: Object.fromEntries(Object.entries(FIGURES).map(([name, key]) => [key, numberOption(invocation, name)])) };
    },
    kind: 'price',
    text: ({ model, version }, invocation) => (isDefault(invocation) ? defaultText(model) : `The price of ${model} is set (${version}).`),
  }),
  calling({
    name: 'prices reset',
    summary: 'Remove the price that the workspace set for a model.',
    hidden: true,
    arguments: [MODEL],
    examples: ['prices set acme-1 default'],
    action: 'prices.set',
    input: () => ({ price: null }),
    kind: 'price',
    text: ({ model }) => defaultText(model),
  }),
];

const defaultText = (model: string): string => `The workspace uses the built-in price of ${model}, if there is one.`;

function isDefault({ positionals, values }: Invocation): boolean {
  const [, word] = positionals;
  if (word === undefined) return false;
  if (word === 'default' && NEEDED.every((name) => values[name] === undefined)) return true;
  throw new UsageError('After MODEL comes either `default` or the prices. Example: covenant prices set acme-1 default');
}

interface UsageTable {
  readonly items: readonly UsageRow[];
  readonly totals: CountedUsage;
  readonly leftOut: number;
  readonly columns: number;
}

function usageText(grouping: string, { items, totals, leftOut, columns }: UsageTable): string {
  if (totals.spans === 0) return 'No usage was reported in this period.';
  const lead = grouping === 'day' || grouping === 'task' ? [grouping.toUpperCase()] : [];
  const head = [...lead, grouping === 'developer' ? 'DEVELOPER' : 'AGENT', 'MODEL', 'INPUT', 'CACHED', 'OUTPUT', 'SESSIONS', 'COST'];
  const rows = items.map((row) => [
    ...(grouping === 'day' ? [row.day ?? '—'] : grouping === 'task' ? [row.task ? row.task.title : '—'] : []),
    row.agent_type === null ? (row.developer ?? '—') : `${row.agent_type}@${row.developer}`,
    row.model ?? '—',
    ...counts(row),
  ]);
  const total = [...lead.map(() => ''), 'total', '', ...counts(totals)];
  const narrow = [
    ['SESSIONS', 0],
    ['TASK', 16],
    ['MODEL', 12],
    ['CACHED', 0],
    ['AGENT', 14],
    ['DEVELOPER', 14],
    ['MODEL', 0],
  ] as const;
  return [table({ head, narrow }, [...rows, total], columns), ...(leftOut > 0 ? [`the total includes ${leftOut} more rows`] : [])].join('\n');
}

const counts = (row: CountedUsage): string[] => [
  String(row.input_tokens),
  String(row.cached_input_tokens),
  String(row.output_tokens),
  row.sessions === 0 ? '—' : String(row.sessions),
  row.cost_usd === null ? '—' : `$${row.cost_usd.toFixed(2)}${row.unpriced > 0 ? '+' : ''}`,
];

import { useMemo } from 'react';
import type { ActionResult } from '../../api.ts';
import { AsCommand, CliCommand, Command, InstalledFirst, SetupCommand } from '../../parts/command.tsx';
import { costWords } from '../../parts/cost.ts';
import { Filter } from '../../parts/filter.tsx';
import { EmptyState, Section } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { Table } from '../../parts/table.tsx';
import { counted } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import type { UsageSearch } from '../../search.ts';
import { CsvButton } from './csv.tsx';
import { DailyBars } from './daily-bars.tsx';
import { Prices } from './prices.tsx';
import { daysOf, GROUPING_KEYS, type Grouping, keyOf, usageColumns } from './usage-rows.tsx';

const OTHER_GROUPINGS = (['day', 'task', 'developer'] as const).map((grouping) => [grouping, grouping] as const);
const OTHER_SPANS = ([7, 90, 366] as const).map((days) => [`${days}`, `${days} days`] as const);

/** The page that shows how many tokens were used and what they cost. */
export function Usage() {
  const [search, change] = usePageSearch('/usage');
  const by = search.by ?? 'agent';
  const usage = useRead('usage.list', { days: daysOf(search), by: [...GROUPING_KEYS[by]] });
  const isEmpty = usage.data?.totals.spans === 0;
  return (
    <>
      <title>Usage · Covenant</title>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h1 className="mr-auto">Usage</h1>
        <Filter
          label="Last"
          otherwise="30 days"
          choices={OTHER_SPANS}
          chosen={search.days && `${search.days}`}
          onChoose={(days) => void change({ days: days && (Number(days) as UsageSearch['days']) })}
        />
        <button type="button" className="button" onClick={() => void change({ prices: true })}>
          Edit prices
        </button>
      </div>
      <div className="mt-3 grid gap-6">
        <Loaded what="The usage" query={usage} />
        {isEmpty && <NoUsage days={daysOf(search)} />}
        {usage.data && !isEmpty && (
          <>
            <Totals totals={usage.data.totals} onPrices={() => void change({ prices: true })} />
            <DailyBars search={search} onChange={(part) => void change(part)} />
            <Rows by={by} days={daysOf(search)} data={usage.data} onGroup={(grouping) => void change({ by: grouping })} />
          </>
        )}
      </div>
      {search.prices && <Prices days={daysOf(search)} onClose={() => void change({ prices: undefined })} />}
    </>
  );
}

interface RowsProps {
  by: Grouping;
  days: number;
  data: ActionResult<'usage.list'>;
  onGroup: (grouping: UsageSearch['by']) => void;
}

function Rows({ by, days, data: { items, left_out }, onGroup }: RowsProps) {
  const columns = useMemo(() => usageColumns(by), [by]);
  return (
    <Section title={`By ${by}`}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <Filter label="By" otherwise="agent" choices={OTHER_GROUPINGS} chosen={by === 'agent' ? undefined : by} onChoose={onGroup} />
        <span className="text-muted">{counted(items.length, 'row')}</span>
        <CsvButton by={by} days={days} rows={items} />
      </div>
      <div className="panel">
        <Table label={`Usage by ${by}`} columns={columns} rows={items} rowKey={keyOf} />
      </div>
      {left_out > 0 && <p className="text-muted">{counted(left_out, 'more row')} not listed. The totals include them.</p>}
      <AsCommand>
        <CliCommand words="usage" options={{ by: by === 'agent' ? undefined : by, days: days === 30 ? undefined : String(days) }} />
      </AsCommand>
    </Section>
  );
}

/** Shows the totals of the selected days. */
function Totals({ totals, onPrices }: { totals: ActionResult<'usage.list'>['totals']; onPrices: () => void }) {
  const figures = [
    ['Cost', costWords(totals)],
    ['Input tokens', totals.input_tokens.toLocaleString()],
    ['Cached', totals.cached_input_tokens.toLocaleString()],
    ['Cache writes', totals.cache_creation_tokens.toLocaleString()],
    ['Output tokens', totals.output_tokens.toLocaleString()],
    ['Sessions', totals.sessions === 0 ? '—' : totals.sessions.toLocaleString()],
  ] as const;
  return (
    <section aria-label="Totals" className="grid gap-2">
      <dl className="panel grid grid-cols-2 gap-x-6 gap-y-3 p-4 sm:grid-cols-3 xl:grid-cols-6">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt className="text-label text-muted">{name}</dt>
            <dd className="text-section font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
      {totals.unpriced > 0 && (
        <p className="text-muted">
          {totals.unpriced.toLocaleString()} of {counted(totals.spans, 'report')} {totals.unpriced === 1 ? 'has' : 'have'} no known price and{' '}
          {totals.unpriced === 1 ? 'is' : 'are'} not included in the cost.{' '}
          <button type="button" className="link" onClick={onPrices}>
            Set prices
          </button>
        </p>
      )}
      {totals.mismatches > 0 && <p className="text-muted">{counted(totals.mismatches, 'report')} submitted a cost that differs from the prices.</p>}
    </section>
  );
}

function NoUsage({ days }: { days: number }) {
  return (
    <div className="panel">
      <EmptyState>
        <p>
          No usage reported in the last {days} days. A machine that is set up reports token counts and model names automatically, nothing else. To report them
          in the foreground, run:
        </p>
        <Command text={`npm exec -- covibe-local watch --base-url ${location.origin}`} />
        <p>To set up a machine, run this in a repository on it:</p>
        <SetupCommand />
        <InstalledFirst />
      </EmptyState>
    </div>
  );
}

import { useMemo } from 'react';
import type { ActionResult } from '../../api.ts';
import { AsCommand, CliCommand } from '../../parts/cli.tsx';
import { counted } from '../../parts/count.ts';
import { Loaded } from '../../parts/data-list.tsx';
import { Filter } from '../../parts/filter.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { Section } from '../../parts/section.tsx';
import { Table } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import type { UsageSearch } from '../../search.ts';
import { CsvButton } from './csv-button.tsx';
import { DailyBars } from './daily-bars.tsx';
import { NoUsage } from './no-usage.tsx';
import { Prices } from './prices.tsx';
import { Totals } from './totals.tsx';
import { daysOf, GROUPING_KEYS, type Grouping, keyOf, usageColumns } from './usage-columns.tsx';

const OTHER_GROUPINGS = (['day', 'task', 'developer'] as const).map((grouping) => [grouping, grouping] as const);
const OTHER_SPANS = ([7, 90, 366] as const).map((days) => [`${days}`, `${days} days`] as const);

/** Who spent what. */
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
          Prices
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
      {left_out > 0 && <p className="text-muted">{counted(left_out, 'more row')} not listed; the totals above count them.</p>}
      <AsCommand>
        <CliCommand words="usage" options={{ by: by === 'agent' ? undefined : by, days: days === 30 ? undefined : String(days) }} />
      </AsCommand>
    </Section>
  );
}

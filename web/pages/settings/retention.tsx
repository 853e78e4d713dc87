import type { KeptData } from '../../api.ts';
import { Command } from '../../parts/command.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Section } from '../../parts/layout.tsx';
import type { Column } from '../../parts/table.tsx';
import { counted } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { Limit } from './limits.tsx';

/** Shows how long the server keeps each kind of data. */
export function Retention() {
  const { data, error, refetch } = useRead('retention.list', {});
  const rows = data && [...data.items].sort((a, b) => (b.ms ?? Number.POSITIVE_INFINITY) - (a.ms ?? Number.POSITIVE_INFINITY) || 0);
  const days = useRead('settings.list', {}).data?.items.find(({ key }) => key === 'retention.days');
  return (
    <div className="grid max-w-3xl gap-8">
      <title>Retention · Covenant</title>
      <Section title="Retention periods">
        <p className="text-muted">
          A period starts when the object ends. The server deletes expired data automatically. Data kept forever is deleted only with the database; events can
          also be pruned by an operator.
        </p>
        {days && <Limit setting={days} />}
        <div className="panel">
          <DataList
            noun="periods"
            what="The retention periods"
            label="Retention periods, longest first"
            list={{ rows, error, refetch }}
            columns={COLUMNS}
            rowKey={({ what }) => what}
          />
        </div>
      </Section>
      <Section title="Backup">
        <p className="text-muted">With SQLite, run this while the server is running:</p>
        <Command text="covenant backup" />
      </Section>
    </div>
  );
}

const COLUMNS: readonly Column<KeptData>[] = [
  { label: 'Data', role: 'title', cell: ({ what }) => what },
  { label: 'Kept', role: 'state', width: 'sm:w-40', cell: ({ ms }) => (ms === null ? 'forever' : lasting(ms)) },
];

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
] as const;

function lasting(ms: number): string {
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1_000, 'second'];
  return counted(Math.round(ms / size), name);
}

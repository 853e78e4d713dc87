import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useJournal } from '../../live/context.tsx';
import { KEPT } from '../../live/journal.ts';
import { useFrozen, usePaused } from '../../live/tail.ts';
import { Command } from '../../parts/copy.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Resume } from '../../parts/resume.tsx';
import { Table } from '../../parts/table.tsx';
import type { Category } from './category.ts';
import { EVENT_COLUMNS } from './columns.tsx';

/** Few enough that a burst of events is painted at once. */
const PAGE = 75;

export function EventList({ category }: { category: Category | undefined }) {
  const { state } = useJournal();
  const paused = usePaused();
  const [shown, setShown] = useState(PAGE);
  const matching = useMemo(() => state.events.filter((event) => category === undefined || event.category === category).reverse(), [state.events, category]);
  const newest = useFrozen(matching[0]?.seq ?? 0, paused);
  const settled = matching.filter(({ seq }) => seq <= newest);
  const waiting = matching.length - settled.length;
  if (state.events.length === 0) return <NothingYet />;
  return (
    <>
      {paused && waiting > 0 && <Resume waiting={waiting} />}
      {matching.length === 0 && (
        <p className="px-3 py-6 text-center text-muted">
          No {category} events among the newest {state.events.length}.
        </p>
      )}
      {settled.length > 0 && <Table label="Events, newest first" columns={EVENT_COLUMNS} rows={settled.slice(0, shown)} rowKey={({ seq }) => seq} />}
      <Older hidden={settled.length - shown} onShow={() => setShown(shown + PAGE)} />
    </>
  );
}

function NothingYet() {
  return (
    <div className="mx-auto grid max-w-md gap-3 px-3 py-8">
      <p className="text-center text-muted">Nothing has happened yet. Make a first event:</p>
      <Command text="covenant tools call clock" />
    </div>
  );
}

/** First what is held and not shown, then what the server has before it, up to what is kept here. */
function Older({ hidden, onShow }: { hidden: number; onShow: () => void }) {
  const { journal, state } = useJournal();
  const read = useMutation({ mutationFn: () => journal.readOlder() });
  const oldest = state.events[0]?.seq ?? 1;
  if (hidden <= 0 && oldest <= 1) return null;
  if (hidden <= 0 && state.events.length >= KEPT) {
    return <p className="border-t border-line p-3 text-center text-muted">This page holds the newest {KEPT.toLocaleString()} events.</p>;
  }
  return (
    <div className="grid justify-items-center gap-2 border-t border-line p-3">
      {read.error && <Problem what="Older events could not be read." error={read.error} />}
      <button
        type="button"
        className="button"
        disabled={read.isPending}
        onClick={() => (hidden > 0 ? onShow() : read.mutate(undefined, { onSuccess: onShow }))}
      >
        Show older events
      </button>
    </div>
  );
}

import { useByClock } from '../live/clock.ts';
import { useDisconnected, useJournal } from '../live/live-journal.tsx';

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

/** Says since when the page is out of date, until the events that it missed have been read. */
export function DisconnectedBar() {
  const { journal, state } = useJournal();
  const disconnected = useDisconnected();
  const { lostAt } = state;
  if (!disconnected || lostAt === null) return <div role="alert" />;
  return (
    <div role="alert" className="sticky top-0 z-10 flex flex-wrap items-center gap-x-2 gap-y-1 bg-bad-tint px-4 py-1.5 text-bad lg:px-6">
      <span aria-hidden="true">✕</span>
      <span className="font-medium">Disconnected</span>
      {/* Read out once, not every second. */}
      <span aria-live="off">
        <Elapsed since={lostAt} /> · showing {CLOCK.format(lostAt)}
      </span>
      <button type="button" className="button ml-auto text-text" onClick={journal.connect}>
        Retry
      </button>
    </div>
  );
}

function Elapsed({ since }: { since: number }) {
  return useByClock((now) => {
    const seconds = Math.max(0, Math.floor((now - since) / 1_000));
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  });
}

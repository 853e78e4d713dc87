import { useDisconnected, useJournal } from '../live/live-journal.tsx';
import { Elapsed } from '../parts/values.tsx';

/** A bar that is visible while the connection is lost, until the missed events are loaded. */
export function DisconnectedBar() {
  const { journal, state } = useJournal();
  const disconnected = useDisconnected();
  const { lostAt } = state;
  if (!disconnected || lostAt === null) return <div role="alert" />;
  return (
    <div role="alert" className="sticky top-0 z-10 flex flex-wrap items-center gap-x-2 gap-y-1 bg-bad-tint px-4 py-1.5 text-bad lg:px-6">
      <span aria-hidden="true">✕</span>
      <span className="font-medium">Disconnected</span>
      {/* Screen readers must announce the bar only once and not every second. */}
      <span aria-live="off">
        for <Elapsed since={lostAt} />. This page is out of date; actions are disabled.
      </span>
      <button type="button" className="button ml-auto text-text" onClick={journal.connect}>
        Retry
      </button>
    </div>
  );
}

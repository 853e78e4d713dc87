import { useByClock } from './clock.ts';
import { useJournal } from './context.tsx';

/** A shorter loss is nobody's business. */
const NOTICE_MS = 5_000;

/** Whether the page is known to be out of date, and so nothing should be done from it. */
export function useDisconnected(): boolean {
  const { lostAt } = useJournal().state;
  return useByClock((now) => lostAt !== null && now - lostAt >= NOTICE_MS);
}

export const DISCONNECTED_REASON = 'Not while the server cannot be reached.';

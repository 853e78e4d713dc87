import { createContext, type ReactNode, use, useEffect, useState } from 'react';
import type { EventView } from '../api.ts';
import { readAgain, rereadViewer } from '../query-client.ts';
import { useSharedValue } from '../shared-value.ts';
import { useByClock } from './clock.ts';
import { Journal, type JournalState } from './journal.ts';

const JournalContext = createContext<Journal | undefined>(undefined);

/**
 * Whether an event may have changed what a page shows. Usage events and passed checks are excluded, because every call appends them, even a call that only
 * reads.
 */
const isNews = ({ category, kind, payload }: EventView): boolean => category !== 'usage' && !(kind === 'CapabilityCheck' && payload.passed === true);

const makeJournal = (): Journal =>
  new Journal({
    arrived: (events) => {
      if (events.some(isNews)) readAgain();
    },
    reconnected: readAgain,
    signedOut: rereadViewer,
  });

export function LiveJournal({ children }: { children: ReactNode }) {
  const [journal] = useState(makeJournal);
  useEffect(() => {
    journal.connect();
    return () => journal.stop();
  }, [journal]);
  return <JournalContext value={journal}>{children}</JournalContext>;
}

export function useJournal(): { journal: Journal; state: JournalState } {
  const journal = use(JournalContext);
  if (!journal) throw new Error('useJournal outside LiveJournal');
  return { journal, state: useSharedValue(journal.store) };
}

/** An interruption is shown to the user only if it lasts longer than this. */
const NOTICE_MS = 5_000;

/** Whether the connection is lost, so that the page may be out of date. Its actions are then disabled. */
export function useDisconnected(): boolean {
  const { lostAt } = useJournal().state;
  return useByClock((now) => lostAt !== null && now - lostAt >= NOTICE_MS);
}

export const DISCONNECTED_REASON = 'Unavailable while the server cannot be reached.';

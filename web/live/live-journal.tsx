import { createContext, type ReactNode, use, useEffect, useState } from 'react';
import type { EventView } from '../api.ts';
import { readAgain, rereadViewer } from '../query-client.ts';
import { useSharedValue } from '../shared-value.ts';
import { useByClock } from './clock.ts';
import { Journal, type JournalState } from './journal.ts';

const JournalContext = createContext<Journal | undefined>(undefined);

/** Every call, even one that changes nothing, appends its usage and its passed check. Pages are read again for the other events only. */
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

/** A shorter loss is not shown. */
const NOTICE_MS = 5_000;

/** Whether the page is known to be out of date, and so nothing should be done from it. */
export function useDisconnected(): boolean {
  const { lostAt } = useJournal().state;
  return useByClock((now) => lostAt !== null && now - lostAt >= NOTICE_MS);
}

export const DISCONNECTED_REASON = 'Not while the server cannot be reached.';

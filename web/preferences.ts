import { useSyncExternalStore } from 'react';

/** What this browser remembers of whoever uses it. Nothing here is a secret, and nothing breaks without it. */
export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark';
  /** Times in UTC instead of this machine's zone. */
  readonly utc: boolean;
  /** Shortcuts of a single key. */
  readonly keys: boolean;
  /** Browser notices for what waits on a person. */
  readonly notices: boolean;
  /** The steps of a new team on Now. */
  readonly firstSteps: boolean;
  /** When Now was last left: what happened since is news. */
  readonly lastVisit: number | null;
  /** And when it had been left before this visit. */
  readonly newsSince: number | null;
}

const DEFAULTS: Preferences = { theme: 'system', utc: false, keys: true, notices: false, firstSteps: true, lastVisit: null, newsSince: null };
const STORED = 'covenant.preferences';
const watchers = new Set<() => void>();
let current = stored();

function stored(): Preferences {
  try {
    const kept = JSON.parse(localStorage.getItem(STORED) ?? '{}') as Partial<Preferences>;
    return {
      theme: kept.theme === 'light' || kept.theme === 'dark' ? kept.theme : 'system',
      utc: kept.utc === true,
      keys: kept.keys !== false,
      notices: kept.notices === true,
      firstSteps: kept.firstSteps !== false,
      lastVisit: typeof kept.lastVisit === 'number' ? kept.lastVisit : null,
      newsSince: typeof kept.newsSince === 'number' ? kept.newsSince : null,
    };
  } catch {
    return DEFAULTS;
  }
}

export const preferences = (): Preferences => current;

export function prefer(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(STORED, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing for us: it holds until the tab is closed.
  }
  show();
  for (const watcher of watchers) watcher();
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export const usePreferences = (): Preferences => useSyncExternalStore(subscribe, preferences);

/** Before the first paint, and with every change. */
export function show(): void {
  if (current.theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = current.theme;
}

addEventListener('storage', ({ key }) => {
  if (key !== STORED) return;
  current = stored();
  show();
  for (const watcher of watchers) watcher();
});

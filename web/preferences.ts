import { SharedValue, useSharedValue } from './shared-value.ts';

/** Settings stored in this browser. They contain no secrets and are optional. */
export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark';
  /** Times in UTC instead of this machine's zone. */
  readonly utc: boolean;
  /** Shortcuts of a single key. */
  readonly keys: boolean;
  /** Browser notifications for things that wait on the person. */
  readonly notices: boolean;
  /** Show the first-run section on Now. */
  readonly firstSteps: boolean;
  /** When Now was last closed. Later events are news. */
  readonly lastVisit: number | null;
  /** The last visit before the current one. */
  readonly newsSince: number | null;
}

const DEFAULTS: Preferences = { theme: 'system', utc: false, keys: true, notices: false, firstSteps: true, lastVisit: null, newsSince: null };
const STORED = 'covenant.preferences';

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

const store = new SharedValue(stored());

export const preferences = store.get;
export const usePreferences = (): Preferences => useSharedValue(store);

export function prefer(change: Partial<Preferences>): void {
  store.change(change);
  try {
    localStorage.setItem(STORED, JSON.stringify(store.get()));
  } catch {
    // Without storage the choice lasts until the tab is closed.
  }
}

function showTheme(): void {
  const { theme } = store.get();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Applies the theme before the first paint and after every change, also from another tab. */
export function followPreferences(): void {
  showTheme();
  store.subscribe(showTheme);
  addEventListener('storage', ({ key }) => key === STORED && store.set(stored()));
}

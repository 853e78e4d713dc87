import { SharedValue, useSharedValue } from './shared-value.ts';

/** Settings that are stored in this browser. They contain no secrets, and the page works without them. */
export interface Preferences {
  readonly theme: 'system' | 'light' | 'dark';
  /** Whether times are shown in UTC instead of the local time zone. */
  readonly utc: boolean;
  /** Whether shortcuts with a single key are enabled. */
  readonly keys: boolean;
  /** Whether the browser notifies the person about things that wait for them. */
  readonly notices: boolean;
  /** Whether the page Now shows the first steps for a new team. */
  readonly firstSteps: boolean;
  /** When the page Now was last closed. Events after this time are news. */
  readonly lastVisit: number | null;
  /** When the visit before the current one ended. */
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
    // If the browser has no storage, the choice is lost when the tab is closed.
  }
}

function showTheme(): void {
  const { theme } = store.get();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Applies the theme before the page is first drawn, and after every change, including changes in another tab. */
export function followPreferences(): void {
  showTheme();
  store.subscribe(showTheme);
  addEventListener('storage', ({ key }) => key === STORED && store.set(stored()));
}

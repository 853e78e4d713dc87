import { call } from '../api.ts';
import { useJournal } from '../live/live-journal.tsx';
import { Icon } from '../parts/icon.tsx';
import { State } from '../parts/layout.tsx';
import { Menu, MenuChoice, MenuItem, MenuLine, MenuSwitch } from '../parts/menu.tsx';
import { prefer, usePreferences } from '../preferences.ts';
import { useRead } from '../queries.ts';
import { endSession } from '../session.ts';
import { openOverlay } from './keyboard.tsx';
import { RepositoryFilter } from './repository-filter.tsx';

const THEMES = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

export function Header() {
  const { connected } = useJournal().state;
  const me = useRead('identity.me', {}).data;
  return (
    <header className="flex h-12 items-center gap-2 border-b border-line px-4 lg:px-6">
      <State tone={connected ? 'live' : 'quiet'}>{connected ? 'Live' : 'Connecting'}</State>
      {me?.workspace === 'ws_demo' && <State tone="you">Demo</State>}
      <RepositoryFilter />
      <button type="button" className="button ml-auto text-muted" onClick={() => openOverlay('palette')} aria-keyshortcuts="Control+K">
        <Icon name="search" />
        <span className="max-md:sr-only">Search</span>
        <kbd className="text-label max-md:hidden">Ctrl K</kbd>
      </button>
      <Menu
        label={`${me?.developer ?? 'You'}: appearance, keys, sign out`}
        className="button min-w-0 max-sm:px-2"
        trigger={
          <>
            <Icon name="person" />
            <span className="max-w-32 truncate max-sm:hidden">{me?.developer}</span>
          </>
        }
      >
        <Choices />
      </Menu>
    </header>
  );
}

/** Signs out this browser. This works even if the server cannot be reached, because without the stored proof the cookie cannot be used. */
async function signOut(): Promise<void> {
  await call('session.end', {}).catch(() => {});
  endSession();
  location.assign('/');
}

function Choices() {
  const { theme, utc, keys } = usePreferences();
  return (
    <>
      <MenuChoice label="Colours" chosen={theme} choices={THEMES} onChoose={(choice) => prefer({ theme: choice })} />
      <MenuLine />
      <MenuSwitch on={utc} onChange={(on) => prefer({ utc: on })}>
        Times in UTC
      </MenuSwitch>
      <MenuSwitch on={keys} onChange={(on) => prefer({ keys: on })}>
        Single-key shortcuts
      </MenuSwitch>
      <MenuLine />
      <MenuItem onChoose={() => openOverlay('help')}>Keyboard shortcuts</MenuItem>
      <MenuLine />
      <MenuItem onChoose={() => void signOut()}>Sign out</MenuItem>
    </>
  );
}

import { Link, Outlet } from '@tanstack/react-router';
import { useJournal } from '../live/context.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { State } from '../parts/tone.tsx';
import { useRead } from '../queries.ts';
import { DisconnectedBar } from './disconnected-bar.tsx';

const PAGES = [
  { to: '/', label: 'Now', icon: 'now' },
  { to: '/tasks', label: 'Work', icon: 'work' },
  { to: '/reviews', label: 'Reviews', icon: 'reviews' },
  { to: '/activity', label: 'Activity', icon: 'activity' },
  { to: '/settings', label: 'Settings', icon: 'settings' },
] as const satisfies readonly { to: string; label: string; icon: IconName }[];

/** Rail from 1024 px, icons from 640, a bar at the bottom below. */
export function Shell() {
  return (
    <div className="min-h-dvh sm:pl-14 max-sm:pb-16 lg:pl-52">
      <a href="#content" className="button absolute top-1 left-1 z-30 -translate-y-20 focus:translate-y-0">
        Skip to content
      </a>
      <Rail />
      <Header />
      <DisconnectedBar />
      <main id="content" tabIndex={-1} className="px-4 pt-4 pb-10 outline-none lg:px-6">
        <Outlet />
      </main>
    </div>
  );
}

function Rail() {
  return (
    <nav
      aria-label="Pages"
      className="fixed z-20 flex border-line bg-surface max-sm:inset-x-0 max-sm:bottom-0 max-sm:h-14 max-sm:border-t sm:inset-y-0 sm:left-0 sm:w-14 sm:flex-col sm:gap-1 sm:border-r sm:p-2 lg:w-52"
    >
      <p aria-hidden="true" className="flex h-9 items-center gap-2 px-2.5 text-section font-semibold max-sm:hidden">
        <img src="/favicon.svg" alt="" className="size-5" />
        <span className="max-lg:hidden">Covenant</span>
      </p>
      {PAGES.map(({ to, label, icon }) => (
        <Link
          key={to}
          to={to}
          title={label}
          activeOptions={{ exact: to === '/', includeSearch: false }}
          activeProps={{ className: 'bg-live-tint text-live' }}
          inactiveProps={{ className: 'text-muted hover:text-text' }}
          className="flex items-center gap-2 font-medium max-sm:flex-1 max-sm:flex-col max-sm:justify-center max-sm:gap-0.5 max-sm:text-label sm:h-9 sm:rounded-md sm:px-3 pointer-coarse:sm:h-11"
        >
          <Icon name={icon} />
          <span className="sm:max-lg:sr-only">{label}</span>
        </Link>
      ))}
    </nav>
  );
}

function Header() {
  const { connected } = useJournal().state;
  const me = useRead('identity.me', {}).data;
  return (
    <header className="flex h-12 items-center justify-between gap-3 border-b border-line px-4 lg:px-6">
      <State tone={connected ? 'live' : 'quiet'}>{connected ? 'Live' : 'Connecting'}</State>
      <p className="min-w-0 truncate text-muted" title={me?.developer ?? undefined}>
        {me?.developer}
      </p>
    </header>
  );
}

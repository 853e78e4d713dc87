import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { useByClock } from '../live/clock.ts';
import { useDisconnected, useJournal } from '../live/live-journal.tsx';
import { DialogHost } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { TableSkeleton } from '../parts/loaded.tsx';
import { Menu, MenuLink } from '../parts/menu.tsx';
import { Toasts, useToast } from '../parts/toast.tsx';
import { takeWelcome } from '../session.ts';
import { Header } from './header.tsx';
import { Keyboard } from './keyboard.tsx';
import { PAGES } from './pages.ts';

/** Rail from 1024 px, icons from 640, a bar at the bottom below. */
export function Shell() {
  return (
    <Toasts>
      <div className="min-h-dvh sm:pl-14 max-sm:pb-16 lg:pl-52">
        <a href="#content" className="button absolute top-1 left-1 z-30 -translate-y-20 focus:translate-y-0">
          Skip to content
        </a>
        <Rail />
        <Header />
        <DisconnectedBar />
        <main id="content" tabIndex={-1} className="px-4 pt-4 pb-10 outline-none lg:px-6">
          {/* A page's own part is fetched when it is first opened. */}
          <Suspense fallback={<TableSkeleton />}>
            <Outlet />
          </Suspense>
        </main>
        <Keyboard />
        <DialogHost />
        <Welcome />
      </div>
    </Toasts>
  );
}

/** Says after every sign-in whose account it is: the link may have been for another account. */
function Welcome() {
  const say = useToast();
  useEffect(() => {
    const words = takeWelcome();
    if (words !== null) say(words);
  }, [say]);
  return null;
}

const ITEM =
  'flex items-center gap-2 font-medium max-sm:flex-1 max-sm:flex-col max-sm:justify-center max-sm:gap-0.5 max-sm:text-label sm:h-9 sm:rounded-md sm:px-3 pointer-coarse:sm:h-11';
const HERE = 'bg-live-tint text-live';
const ELSEWHERE = 'text-muted hover:text-text';

function Rail() {
  const { pathname } = useLocation();
  const inMore = PAGES.some(({ to, bar }) => !bar && `${pathname}/`.startsWith(`${to}/`));
  return (
    <nav
      aria-label="Pages"
      className="fixed z-20 flex border-line bg-surface max-sm:inset-x-0 max-sm:bottom-0 max-sm:h-14 max-sm:border-t sm:inset-y-0 sm:left-0 sm:w-14 sm:flex-col sm:gap-1 sm:border-r sm:p-2 lg:w-52"
    >
      <p aria-hidden="true" className="flex h-9 items-center gap-2 px-2.5 text-section font-semibold max-sm:hidden">
        <img src="/favicon.svg" alt="" className="size-5" />
        <span className="max-lg:hidden">Covenant</span>
      </p>
      {PAGES.map(({ to, label, icon, bar }) => (
        <Link
          key={to}
          to={to}
          title={label}
          activeOptions={{ exact: to === '/', includeSearch: false }}
          activeProps={{ className: HERE }}
          inactiveProps={{ className: ELSEWHERE }}
          className={`${ITEM} ${bar ? '' : 'max-sm:hidden'}`}
        >
          <Icon name={icon} />
          <span className="sm:max-lg:sr-only">{label}</span>
        </Link>
      ))}
      <Menu
        label="More pages"
        trigger={
          <>
            <Icon name="more" />
            <span>More</span>
          </>
        }
        className={`${ITEM} ${inMore ? HERE : ELSEWHERE} sm:hidden`}
      >
        {PAGES.filter(({ bar }) => !bar).map(({ to, label, icon }) => (
          <MenuLink key={to} to={to} icon={icon}>
            {label}
          </MenuLink>
        ))}
      </Menu>
    </nav>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });

/** Says since when the page is out of date, until what was missed has been read. */
function DisconnectedBar() {
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

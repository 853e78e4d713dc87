import { Link, useLocation } from '@tanstack/react-router';
import { Icon } from '../parts/icon.tsx';
import { Menu, MenuLink } from '../parts/menu.tsx';
import { PAGES } from './pages.ts';

const ITEM =
  'flex items-center gap-2 font-medium max-sm:flex-1 max-sm:flex-col max-sm:justify-center max-sm:gap-0.5 max-sm:text-label sm:h-9 sm:rounded-md sm:px-3 pointer-coarse:sm:h-11';
const HERE = 'bg-live-tint text-live';
const ELSEWHERE = 'text-muted hover:text-text';

/**
 * The links to all pages. Screens of at least 1024 px show a rail with names, screens of at least 640 px a rail with icons, and smaller screens a bar at the
 * bottom.
 */
export function Rail() {
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

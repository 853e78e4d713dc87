import { Link, Outlet } from '@tanstack/react-router';

const VIEWS = [
  { to: '/tasks', label: 'Tasks' },
  { to: '/tasks/overlaps', label: 'Overlaps' },
  { to: '/tasks/week', label: 'Week' },
] as const;

/** Is somebody already doing this? */
export function Work() {
  return (
    <>
      <h1>Work</h1>
      <nav aria-label="Work" className="mt-2 mb-4 flex gap-1 border-b border-line">
        {VIEWS.map(({ to, label }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ className: 'border-live text-live' }}
            inactiveProps={{ className: 'border-transparent text-muted hover:text-text' }}
            className="-mb-px flex h-9 items-center border-b-2 px-3 font-medium pointer-coarse:h-11"
          >
            {label}
          </Link>
        ))}
      </nav>
      <Outlet />
    </>
  );
}

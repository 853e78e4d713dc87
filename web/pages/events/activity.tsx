import { Outlet } from '@tanstack/react-router';
import { Views } from '../../parts/views.tsx';

/** The common frame of the two pages about the journal (events and chain). */
export function Activity() {
  return (
    <>
      <h1>Activity</h1>
      <Views
        label="Activity"
        views={[
          { to: '/activity', label: 'Events' },
          { to: '/activity/chain', label: 'Chain' },
        ]}
      />
      <Outlet />
    </>
  );
}

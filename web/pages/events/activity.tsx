import { Outlet } from '@tanstack/react-router';
import { Views } from '../../parts/views.tsx';

/** What happened, and whether it can be trusted. */
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

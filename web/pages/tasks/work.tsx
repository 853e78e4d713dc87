import { Outlet } from '@tanstack/react-router';
import { Views } from '../../parts/views.tsx';

export function Work() {
  return (
    <>
      <h1>Work</h1>
      <Views
        label="Work"
        views={[
          { to: '/tasks', label: 'Tasks' },
          { to: '/tasks/claims', label: 'Claims' },
          { to: '/tasks/overlaps', label: 'Overlaps' },
          { to: '/tasks/week', label: 'Week' },
        ]}
      />
      <Outlet />
    </>
  );
}

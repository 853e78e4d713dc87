import { Outlet } from '@tanstack/react-router';
import { Views } from '../../parts/views.tsx';
import { isWaiting, useRights, useServers } from './rights.tsx';

/** Who may call what, and what there is to call. */
export function Tools() {
  const servers = useServers(useRights());
  const waiting = servers.data?.items.flatMap(({ withheld }) => withheld.filter(isWaiting)).length;
  return (
    <>
      <h1>Tools</h1>
      <Views
        label="Tools"
        views={[
          { to: '/tools', label: 'Catalogue' },
          { to: '/tools/servers', label: 'Servers', count: servers.data?.items.length },
          { to: '/tools/grants', label: 'Grants' },
          { to: '/tools/changes', label: 'Changes', count: waiting },
          { to: '/tools/matrix', label: 'Who may call' },
        ]}
      />
      <Outlet />
    </>
  );
}

import { Outlet } from '@tanstack/react-router';
import type { Withheld } from '../../api.ts';
import { Views } from '../../parts/views.tsx';
import { useRead } from '../../queries.ts';
import { useRights, type ViewerRights } from './viewer-rights.tsx';

/** The common frame of the pages about tools. */
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
          { to: '/tools/matrix', label: 'Access' },
        ]}
      />
      <Outlet />
    </>
  );
}

/** The state of servers is polled, because not all viewers receive the events about it. */
const POLL_MS = 15_000;

/** Reads the external servers if the viewer may see them. */
export const useServers = (rights: ViewerRights) => useRead('servers.list', {}, { pollMs: POLL_MS, enabled: rights === 'operator' });

/** Whether a person still has to approve or reject this version of the definition. */
export const isWaiting = ({ rejected, fingerprint }: Withheld): boolean => rejected === null && fingerprint !== '';

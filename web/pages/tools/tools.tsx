import { Outlet } from '@tanstack/react-router';
import type { Withheld } from '../../api.ts';
import { Views } from '../../parts/views.tsx';
import { useRead } from '../../queries.ts';
import { useRights, type ViewerRights } from './viewer-rights.tsx';

/** The frame of the pages about tools. */
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

/** Not every viewer receives the events of a server's state. */
const POLL_MS = 15_000;

/** Read only by viewers who may see the servers. */
export const useServers = (rights: ViewerRights) => useRead('servers.list', {}, { pollMs: POLL_MS, enabled: rights === 'operator' });

/** Whether a person must approve or reject this version of the definition. */
export const isWaiting = ({ rejected, fingerprint }: Withheld): boolean => rejected === null && fingerprint !== '';

import type { ReactNode } from 'react';
import type { Withheld } from '../../api.ts';
import { EmptyState } from '../../parts/section.tsx';
import { looksAfterServers } from '../../parts/whole-server.ts';
import { useRead } from '../../queries.ts';

/** `elsewhere`: operator of another workspace than the one that external servers belong to. */
export type ViewerRights = 'unknown' | 'member' | 'elsewhere' | 'operator';

export function useRights(): ViewerRights {
  const me = useRead('identity.me', {}).data;
  if (!me) return 'unknown';
  if (!me.operator) return 'member';
  return looksAfterServers(me.workspace) ? 'operator' : 'elsewhere';
}

const WHY: Record<'member' | 'elsewhere', string> = {
  member: 'This is for the operator of this server. Its first developer has operator rights too.',
  elsewhere: 'External servers belong to the whole server, not to this workspace: ask the operator of the default workspace.',
};

/** Said to whoever may not see the list at all; it is not even asked for. */
export function ForOperator({ title, rights, children }: { title: string; rights: 'member' | 'elsewhere'; children?: ReactNode }) {
  return (
    <>
      <title>{`${title} · Covenant`}</title>
      <section aria-label={title} className="panel">
        <EmptyState>
          <p>{WHY[rights]}</p>
          {children}
        </EmptyState>
      </section>
    </>
  );
}

/** A server comes up, goes down and is restarted without an event that everybody is told of. */
const EVERY_MS = 15_000;

/** Asked for only by who gets an answer. */
export const useServers = (rights: ViewerRights) => useRead('servers.list', {}, { everyMs: EVERY_MS, enabled: rights === 'operator' });

/** Nobody has said yes or no to it as it is now. */
export const isWaiting = ({ rejected, fingerprint }: Withheld): boolean => rejected === null && fingerprint !== '';

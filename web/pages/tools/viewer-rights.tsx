import type { ReactNode } from 'react';
import { EmptyState } from '../../parts/layout.tsx';
import { useRead } from '../../queries.ts';

/** `elsewhere`: operator of another workspace than the one that external servers belong to. */
export type ViewerRights = 'unknown' | 'member' | 'elsewhere' | 'operator';

export function useRights(): ViewerRights {
  const me = useRead('identity.me', {}).data;
  if (!me) return 'unknown';
  if (!me.operator) return 'member';
  return SERVER_WORKSPACES.includes(me.workspace) ? 'operator' : 'elsewhere';
}

/** External servers belong to the default workspace; the demo brings one of its own. */
const SERVER_WORKSPACES = ['ws_default', 'ws_demo'];

const WHY: Record<'member' | 'elsewhere', string> = {
  member: 'This is for the operator of this server. Its first developer has operator rights too.',
  elsewhere: 'External servers belong to the whole server, not to this workspace: ask the operator of the default workspace.',
};

/** Shown instead of a list that the viewer may not see. */
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

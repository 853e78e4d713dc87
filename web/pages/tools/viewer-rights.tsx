import type { ReactNode } from 'react';
import { EmptyState } from '../../parts/layout.tsx';
import { useRead } from '../../queries.ts';

/** The rights of the signed-in person. `elsewhere` means operator of a workspace that does not own the external servers. */
export type ViewerRights = 'unknown' | 'member' | 'elsewhere' | 'operator';

export function useRights(): ViewerRights {
  const me = useRead('identity.me', {}).data;
  if (!me) return 'unknown';
  if (!me.operator) return 'member';
  return SERVER_WORKSPACES.includes(me.workspace) ? 'operator' : 'elsewhere';
}

/** The workspaces that can own external servers: the default one, and the one of the demo. */
const SERVER_WORKSPACES = ['ws_default', 'ws_demo'];

const WHY: Record<'member' | 'elsewhere', string> = {
  member: 'This page needs operator rights, which the first developer of the workspace has.',
  elsewhere: 'External servers belong to the default workspace. Ask its operator.',
};

/** Explains which rights are needed. It replaces a list that the viewer may not see. */
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

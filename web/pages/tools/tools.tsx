import { Outlet } from '@tanstack/react-router';
import { type ReactNode, type SubmitEvent, useState } from 'react';
import type { Withheld } from '../../api.ts';
import { Filter } from '../../parts/field.tsx';
import { EmptyState, Views } from '../../parts/layout.tsx';
import { useRead } from '../../queries.ts';

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

/** External servers are looked after by the default workspace; the demo brings one of its own. */
export const looksAfterServers = (workspace: string | undefined): boolean => workspace === 'ws_default' || workspace === 'ws_demo';

/** Narrows the list to names that have this in them, once Enter is pressed or the field is left. */
export function FilterText({ label, value, onChange }: { label: string; value: string | undefined; onChange: (value: string | undefined) => void }) {
  const [typed, setTyped] = useState<string>();
  const shown = typed ?? value ?? '';
  const settle = (): void => {
    setTyped(undefined);
    if (shown.trim() !== (value ?? '')) onChange(shown.trim() || undefined);
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    settle();
  };
  return (
    <form onSubmit={submit} className="min-w-0 max-sm:w-full">
      <input
        type="search"
        data-filter
        aria-label={label}
        placeholder={label}
        className="field sm:w-56"
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        value={shown}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={settle}
      />
    </form>
  );
}

/** Every server that has a tool, the product itself too. */
export function ServerFilter({ chosen, onChoose }: { chosen: string | undefined; onChoose: (server: string | undefined) => void }) {
  const { data } = useRead('tools.usage', {});
  const servers = (data?.items ?? []).map(({ server }) => [server, server] as const);
  return <Filter label="Server" otherwise="All" choices={servers} chosen={chosen} onChoose={onChoose} />;
}

import type { ReactNode } from 'react';
import type { ShownWorkflow } from '../../api.ts';
import { SearchLink } from '../../parts/page-search.tsx';
import { AgentName, Elapsed, Until, UntrustedText } from '../../parts/values.tsx';

/** The name of a task as a link that opens the panel of the task. */
export function TaskLink({ id, name }: { id: string; name: string }) {
  return (
    <SearchLink set={{ task: id }} className="min-w-0 font-medium hover:underline">
      <UntrustedText text={name} brief />
    </SearchLink>
  );
}

type HeldClaim = Pick<ShownWorkflow['claims'][number], 'agent_name' | 'agent_page' | 'claimed_at' | 'lease_expires_at'>;

/** Shows which agent holds a task, since when, and when the claim expires. */
export function Holder({ claim: { agent_name, agent_page, claimed_at, lease_expires_at }, children }: { claim: HeldClaim; children?: ReactNode }) {
  return (
    <span className="flex flex-wrap gap-x-2 text-muted">
      <AgentName name={agent_name} id={agent_page} />
      {claimed_at !== null && (
        <span>
          for <Elapsed since={claimed_at} />
        </span>
      )}
      <span>{lease_expires_at === null ? 'lease expired' : <Lease at={lease_expires_at} />}</span>
      {children}
    </span>
  );
}

export function Lease({ at }: { at: number }) {
  return (
    <>
      lease ends <Until at={at} />
    </>
  );
}

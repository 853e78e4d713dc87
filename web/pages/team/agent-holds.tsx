import type { ShownAgent } from '../../api.ts';
import { ConfirmAction } from '../../parts/actions.tsx';
import { PanelList, Section, State } from '../../parts/layout.tsx';
import { counted, Elapsed, PathLink, Until, UntrustedText } from '../../parts/values.tsx';

/** Lists everything that the agent currently holds, such as tasks and claims, so that no other agent can use it. */
export function AgentHolds({ shown }: { shown: ShownAgent }) {
  const holdings = holdingsOf(shown);
  const { tasks, steps, claims, locks } = shown.agent.holds;
  const all = tasks + steps + claims + locks;
  return (
    <Section title="Holds" about={all > 0 && counted(all, 'item')}>
      <PanelList items={holdings} empty="Nothing held." more={all - holdings.length}>
        {({ id, kind, title, path, about, since, expires }) => (
          <li key={id} data-row data-id={id} className="grid grid-cols-[4.5rem_minmax(0,1fr)_auto] items-baseline gap-x-3 px-3 py-2">
            <span>
              <State tone="live">{kind}</State>
            </span>
            <div className="min-w-0">
              <PathLink path={path} className="font-medium hover:underline">
                <UntrustedText text={title} brief />
              </PathLink>
              <p className="text-muted">
                <UntrustedText text={about} brief />
              </p>
            </div>
            <span className="text-right text-label text-muted">
              {since !== null && (
                <span className="block">
                  for <Elapsed since={since} />
                </span>
              )}
              {expires !== null && (
                <span className="block">
                  expires <Until at={expires} />
                </span>
              )}
            </span>
          </li>
        )}
      </PanelList>
    </Section>
  );
}

interface Holding {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly path: string | null;
  readonly about: string;
  readonly since: number | null;
  readonly expires: number | null;
}

function holdingsOf({ tasks, steps, claims, locks }: ShownAgent): Holding[] {
  return [
    ...steps.map(({ task_id, name, workflow_name, fence, claimed_at, lease_expires_at, path }) => ({
      id: task_id,
      kind: 'step',
      title: name,
      path,
      about: `${workflow_name ?? 'workflow'} · fence ${fence}`,
      since: claimed_at,
      expires: lease_expires_at,
    })),
    ...tasks.map(({ task_id, title, status, since, path }) => ({ id: task_id, kind: 'task', title, path, about: status, since, expires: null })),
    ...claims.map(({ claim_id, repo, patterns, mode, reason, expires_at, path }) => ({
      id: claim_id,
      kind: 'claim',
      title: patterns.join(', '),
      path,
      about: [repo, mode, reason].filter(Boolean).join(' · '),
      since: null,
      expires: expires_at,
    })),
    ...locks.map(({ cycle, feature, role, since, session_expires_at, path }) => ({
      id: cycle,
      kind: 'turn',
      title: feature,
      path,
      about: `role ${role}`,
      since,
      expires: session_expires_at,
    })),
  ];
}

/** A button that releases the agent's workflow tasks and claims, as if the agent had left. */
export function ReleaseAgent({ agent: { agent_id, name, holds } }: { agent: ShownAgent['agent'] }) {
  const { steps, claims } = holds;
  if (agent_id === null) return null;
  return (
    <ConfirmAction
      button="Release claims"
      needs="operator"
      disabled={steps + claims === 0}
      hint={steps + claims === 0 ? 'This agent holds no step and no claim.' : undefined}
      title={`Release the claims of ${name}?`}
      act="Release"
      keep="Keep"
      action="agents.release"
      input={{ agent_id }}
      failed="Nothing was released."
      command={`agents release ${agent_id}`}
      toast={({ steps_released, claims_released }) => `Released ${counted(steps_released, 'step')} and ${counted(claims_released, 'claim')} of ${name}.`}
    >
      <p>
        {counted(steps, 'step')} {steps === 1 ? 'becomes' : 'become'} claimable, and {counted(claims, 'claim')} on code {claims === 1 ? 'ends' : 'end'}. If the
        agent is still working, it finds out with its next call and must claim again. Its tasks stay with their developer.
      </p>
    </ConfirmAction>
  );
}

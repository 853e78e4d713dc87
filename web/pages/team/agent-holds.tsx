import type { ReactNode } from 'react';
import type { ShownAgent } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { PathLink } from '../../parts/path-link.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { EmptyState, Section } from '../../parts/section.tsx';
import { Time, Until } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';

interface Line {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly path: string | null;
  readonly about: string;
  readonly since: number | null;
  readonly expires: number | null;
}

/** Everything that nobody else can have as long as it has it. */
export function AgentHolds({ shown }: { shown: ShownAgent }) {
  const lines = linesOf(shown);
  const { tasks, steps, claims, locks } = shown.agent.holds;
  const all = tasks + steps + claims + locks;
  return (
    <Section title="Holds" about={all > 0 && counted(all, 'thing')}>
      <div className="panel">
        {lines.length === 0 ? (
          <EmptyState>It holds nothing.</EmptyState>
        ) : (
          <ul className="divide-y divide-line">
            {lines.map((line) => (
              <li key={line.id} data-row data-id={line.id} className="grid grid-cols-[4.5rem_minmax(0,1fr)_auto] items-baseline gap-x-3 px-3 py-2">
                <span>
                  <State tone="live">{line.kind}</State>
                </span>
                <div className="min-w-0">
                  <PathLink path={line.path} className="font-medium hover:underline">
                    <UntrustedText text={line.title} brief />
                  </PathLink>
                  <p className="text-muted">
                    <UntrustedText text={line.about} brief />
                  </p>
                </div>
                <span className="text-right text-label text-muted">
                  {line.since !== null && (
                    <Stamp word="for">
                      <Time at={line.since} />
                    </Stamp>
                  )}
                  {line.expires !== null && (
                    <Stamp word="expires">
                      <Until at={line.expires} />
                    </Stamp>
                  )}
                </span>
              </li>
            ))}
            {all > lines.length && <li className="px-3 py-2 text-muted">and {all - lines.length} more</li>}
          </ul>
        )}
      </div>
    </Section>
  );
}

function Stamp({ word, children }: { word: string; children: ReactNode }) {
  return (
    <span className="block">
      {word} {children}
    </span>
  );
}

function linesOf({ tasks, steps, claims, locks }: ShownAgent): Line[] {
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
      about: `as ${role}`,
      since,
      expires: session_expires_at,
    })),
  ];
}

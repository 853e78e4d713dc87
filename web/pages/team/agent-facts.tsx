import type { ShownAgent } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { PathLink } from '../../parts/path-link.tsx';
import { UntrustedText } from '../../parts/said.tsx';
import { EmptyState, Section } from '../../parts/section.tsx';
import { Time, Until } from '../../parts/time.tsx';
import { State } from '../../parts/tone.tsx';

/** Where its work lies, as its sessions reported it last. */
export function AgentWorktrees({ worktrees }: Pick<ShownAgent, 'worktrees'>) {
  return (
    <Section title="Working trees" about={worktrees.length > 0 && 'as reported'}>
      <div className="panel">
        {worktrees.length === 0 ? (
          <EmptyState>It has reported no working tree.</EmptyState>
        ) : (
          <ul className="divide-y divide-line">
            {worktrees.map(({ repo, branch, worktree, dirty, dirty_count, unpushed, unpushed_count, reported_at }) => (
              <li key={`${repo} ${branch} ${worktree}`} className="grid gap-1 px-3 py-2">
                <p className="flex flex-wrap items-center gap-x-2">
                  <span className="min-w-0 font-medium">
                    <UntrustedText text={[repo, branch].filter(Boolean).join(' · ')} brief />
                  </span>
                  <State tone={dirty_count > 0 ? 'wait' : 'good'}>{dirty_count > 0 ? counted(dirty_count, 'uncommitted file') : 'clean'}</State>
                  {unpushed_count > 0 && <State tone="wait">{counted(unpushed_count, 'unpushed file')}</State>}
                  <span className="ml-auto text-label text-muted">
                    <Time at={reported_at} />
                  </span>
                </p>
                {worktree && (
                  <p className="mono text-muted">
                    <UntrustedText text={worktree} brief />
                  </p>
                )}
                <Files label="Uncommitted" files={dirty} count={dirty_count} />
                <Files label="Unpushed" files={unpushed} count={unpushed_count} />
              </li>
            ))}
          </ul>
        )}
      </div>
    </Section>
  );
}

function Files({ label, files, count }: { label: string; files: readonly string[]; count: number }) {
  if (files.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer text-muted">
        {label}: {counted(count, 'file')}
      </summary>
      <ul className="mono mt-1 grid gap-0.5">
        {files.map((file) => (
          <li key={file}>
            <UntrustedText text={file} />
          </li>
        ))}
        {count > files.length && <li className="text-muted">and {count - files.length} more</li>}
      </ul>
    </details>
  );
}

const GRANTS_SHOWN = 30;

/** What lets it call; for operators and its own developer. */
export function AgentGrants({ grants }: Pick<ShownAgent, 'grants'>) {
  if (grants === null) return null;
  return (
    <Section
      title="Grants"
      about={
        <PathLink path="/tools/grants" className="link">
          {counted(grants.length, 'grant')}
        </PathLink>
      }
    >
      <div className="panel">
        {grants.length === 0 ? (
          <EmptyState>No grant serves it: it can call nothing.</EmptyState>
        ) : (
          <ul className="divide-y divide-line">
            {grants.slice(0, GRANTS_SHOWN).map(({ grant_id, action, subject, status, expires_at }) => (
              <li key={grant_id} data-id={grant_id} className="flex flex-wrap items-baseline gap-x-3 px-3 py-1.5">
                <span className="mono">
                  <UntrustedText text={action} />
                </span>
                <span className="text-muted">for its {subject.split(':')[0]}</span>
                <span className="ml-auto flex items-center gap-x-2 text-label text-muted">
                  {expires_at !== null && (
                    <span>
                      expires <Until at={expires_at} />
                    </span>
                  )}
                  <State tone={status === 'live' ? 'good' : 'quiet'}>{status}</State>
                </span>
              </li>
            ))}
            {grants.length > GRANTS_SHOWN && <li className="px-3 py-1.5 text-muted">and {grants.length - GRANTS_SHOWN} more</li>}
          </ul>
        )}
      </div>
    </Section>
  );
}

/** As what it runs: registered agents and agent sessions. */
export function AgentRuns({ registered, sessions }: Pick<ShownAgent, 'registered' | 'sessions'>) {
  if (registered.length + sessions.length === 0) return null;
  return (
    <Section title="Runs as" about={counted(registered.length + sessions.length, 'run')}>
      <ul className="panel divide-y divide-line">
        {registered.map(({ agent_id, name, runtime, role, status, last_seen_at }) => (
          <li key={agent_id} data-id={agent_id} className="flex flex-wrap items-baseline gap-x-3 px-3 py-1.5">
            <UntrustedText text={name} /> <span className="text-muted">{`${runtime}, ${role}`}</span>
            <span className="ml-auto flex items-center gap-x-2 text-label text-muted">
              <Id id={agent_id} />
              <Time at={last_seen_at} />
              <State tone={status === 'offline' ? 'quiet' : 'live'}>{status}</State>
            </span>
          </li>
        ))}
        {sessions.map(({ session_id, model, repo, branch, last_seen_at, ended_at }) => (
          <li key={session_id} data-id={session_id} className="flex flex-wrap items-baseline gap-x-3 px-3 py-1.5">
            session <UntrustedText text={[model, repo, branch].filter(Boolean).join(' · ') || '—'} />
            <span className="ml-auto flex items-center gap-x-2 text-label text-muted">
              <Id id={session_id} />
              <Time at={last_seen_at} />
              <State tone={ended_at === null ? 'live' : 'quiet'}>{ended_at === null ? 'open' : 'ended'}</State>
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

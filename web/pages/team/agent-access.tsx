import type { ReactNode } from 'react';
import type { ShownAgent } from '../../api.ts';
import { ConfirmAction } from '../../parts/actions.tsx';
import { PanelList, Section, State } from '../../parts/layout.tsx';
import { counted, escapeBidi, Id, PathLink, Time, Until, UntrustedText } from '../../parts/values.tsx';

/** One line of a list. The state is at the end of the line. */
function Line({ id, end, children }: { id: string; end: ReactNode; children: ReactNode }) {
  return (
    <li data-id={id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
      {children}
      <span className="ml-auto flex items-center gap-x-2 text-label text-muted">{end}</span>
    </li>
  );
}

const Status = ({ isLive, children }: { isLive: boolean; children: string }) => <State tone={isLive ? 'good' : 'quiet'}>{children}</State>;

export function AgentTokens({ tokens, name }: { tokens: ShownAgent['tokens']; name: string }) {
  if (tokens === null || tokens.length === 0) return null;
  return (
    <Section title="Tokens" about={counted(tokens.length, 'token')}>
      <PanelList items={tokens} empty="">
        {({ token_id, label, status, last_used_at }) => (
          <Line
            key={token_id}
            id={token_id}
            end={
              <>
                last used {last_used_at === null ? '—' : <Time at={last_used_at} />}
                {status === 'live' && (
                  <ConfirmAction
                    button="Revoke"
                    name={`Revoke ${escapeBidi(label)}`}
                    title={`Revoke ${label}?`}
                    act="Revoke token"
                    typed={token_id}
                    action="tokens.revoke"
                    input={{ token_id }}
                    failed="The token was not revoked."
                    command={`tokens revoke ${token_id}`}
                    toast={`Revoked ${label}.`}
                  >
                    <p>
                      The next call of <UntrustedText text={name} /> with this token is refused. This cannot be undone.
                    </p>
                  </ConfirmAction>
                )}
              </>
            }
          >
            <UntrustedText text={label} />
            <Id id={token_id} />
            <Status isLive={status === 'live'}>{status}</Status>
          </Line>
        )}
      </PanelList>
    </Section>
  );
}

const MAX_GRANTS = 30;

/** Lists the grants that allow the agent's calls. Only operators and the agent's own developer see them. */
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
      <PanelList items={grants.slice(0, MAX_GRANTS)} empty="No grants. This agent can only call tools that need none." more={grants.length - MAX_GRANTS}>
        {({ grant_id, action, subject, status, expires_at }) => (
          <Line
            key={grant_id}
            id={grant_id}
            end={
              <>
                {expires_at !== null && (
                  <span>
                    expires <Until at={expires_at} />
                  </span>
                )}
                <Status isLive={status === 'live'}>{status}</Status>
              </>
            }
          >
            <UntrustedText text={action} className="mono" />
            <span className="text-muted">of its {subject.split(':')[0]}</span>
          </Line>
        )}
      </PanelList>
    </Section>
  );
}

/** Lists the registrations and sessions of the agent. */
export function AgentRuns({ registered, sessions }: Pick<ShownAgent, 'registered' | 'sessions'>) {
  if (registered.length + sessions.length === 0) return null;
  const runs = [
    ...registered.map(({ agent_id, name, runtime, role, status, last_seen_at }) => ({
      id: agent_id,
      what: (
        <>
          <UntrustedText text={name} /> <span className="text-muted">{`${runtime}, ${role}`}</span>
        </>
      ),
      seen: last_seen_at,
      isLive: status !== 'offline',
      status: status as string,
    })),
    ...sessions.map(({ session_id, model, repo, branch, last_seen_at, ended_at }) => ({
      id: session_id,
      what: (
        <span>
          session <UntrustedText text={[model, repo, branch].filter(Boolean).join(' · ') || '—'} />
        </span>
      ),
      seen: last_seen_at,
      isLive: ended_at === null,
      status: ended_at === null ? 'open' : 'ended',
    })),
  ];
  return (
    <Section title="Runs" about={counted(runs.length, 'run')}>
      <PanelList items={runs} empty="">
        {({ id, what, seen, isLive, status }) => (
          <Line
            key={id}
            id={id}
            end={
              <>
                <Id id={id} />
                <Time at={seen} />
                <State tone={isLive ? 'live' : 'quiet'}>{status}</State>
              </>
            }
          >
            {what}
          </Line>
        )}
      </PanelList>
    </Section>
  );
}

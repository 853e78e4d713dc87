import { useState } from 'react';
import type { ShownCycle } from '../../api.ts';
import { ActButton } from '../../parts/act-button.tsx';
import { CliCommand } from '../../parts/cli.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { counted } from '../../parts/count.ts';
import { escapeBidi } from '../../parts/said.tsx';
import { EmptyState, Section } from '../../parts/section.tsx';
import { Time, Until } from '../../parts/time.tsx';
import { useToast } from '../../parts/toast.tsx';
import { State, type Tone } from '../../parts/tone.tsx';
import { useAct } from '../../queries.ts';
import { Who } from '../events/who.tsx';

type RoleSession = ShownCycle['sessions'][number];

/** All of them: the compiler sees to it. */
const TONES: Record<RoleSession['status'], Tone> = { open: 'live', closed: 'quiet', expired: 'quiet' };

/** Who has shown which role they have, in this repository. */
export function Sessions({ sessions }: { sessions: readonly RoleSession[] }) {
  const [closing, setClosing] = useState<RoleSession>();
  const open = sessions.filter(({ status }) => status === 'open');
  const over = sessions.filter(({ status }) => status !== 'open');
  return (
    <Section title="Role sessions" about={counted(open.length, 'open session')}>
      <div className="panel">
        {open.length === 0 && (
          <EmptyState>
            <p>No role has an open session here. Agents open one with session.open and the key of their role.</p>
          </EmptyState>
        )}
        <List sessions={open} onClose={setClosing} />
      </div>
      {over.length > 0 && (
        <details>
          <summary className="cursor-pointer py-1 text-muted">{counted(over.length, 'session')} of the last days that are over</summary>
          <div className="panel mt-1">
            <List sessions={over} />
          </div>
        </details>
      )}
      {closing && <CloseSession session={closing} onClose={() => setClosing(undefined)} />}
    </Section>
  );
}

function List({ sessions, onClose }: { sessions: readonly RoleSession[]; onClose?: (session: RoleSession) => void }) {
  return (
    <ul className="divide-y divide-line">
      {sessions.map((session) => (
        <li key={session.session_id} data-id={session.session_id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
          <span className="font-medium">{session.role}</span>
          <span className="min-w-0 wrap-anywhere text-muted">
            <Who actor={session.actor} />
          </span>
          <span className="ml-auto text-label text-muted">
            {session.status === 'open' ? (
              <>
                used <Time at={session.last_seen} /> ago · expires <Until at={session.expires_at} />
              </>
            ) : (
              <Time at={session.closed_at ?? session.expires_at} />
            )}
          </span>
          <State tone={TONES[session.status]}>{session.status}</State>
          {onClose && (
            <ActButton
              needs="operator"
              className="min-h-6 px-2"
              aria-label={`Close the session of ${escapeBidi(session.role)}`}
              onClick={() => onClose(session)}
            >
              Close
            </ActButton>
          )}
        </li>
      ))}
    </ul>
  );
}

function CloseSession({ session, onClose }: { session: RoleSession; onClose: () => void }) {
  const close = useAct('cycles.close_session');
  const say = useToast();
  const act = (): void =>
    close.mutate(
      { session_id: session.session_id },
      {
        onSuccess: () => {
          onClose();
          say(`Closed the session of ${session.role}.`);
        },
      },
    );
  return (
    <Confirm
      title={`Close the session of ${session.role}?`}
      act="Close session"
      keep="Keep it"
      pending={close.isPending}
      error={close.error}
      failed="It was not closed."
      onAct={act}
      onClose={onClose}
    >
      <p>Its token is refused from then on. The role can open another one with its key; the cycle and its lock stay as they are.</p>
      <CliCommand words={`cycle close-session ${session.session_id}`} />
    </Confirm>
  );
}

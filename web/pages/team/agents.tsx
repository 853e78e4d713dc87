import { Link } from '@tanstack/react-router';
import type { Session, TeamState } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Said, workerOf } from '../../parts/said.tsx';
import { Nothing, Section } from '../../parts/section.tsx';
import { CARD_STATE, CARD_TITLE, type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { State, type Tone } from '../../parts/tone.tsx';

/** All of them: the compiler sees to it. */
const TONES: Record<Session['state'], Tone> = { active: 'live', stale: 'wait', ended: 'quiet' };

/** Who is working. The sessions that were heard of last may leave out one that has long been silent. */
export function Agents({ state: { recentSessions, staleSessions } }: { state: TeamState }) {
  const known = new Set(recentSessions.map(({ session_id }) => session_id));
  const all = [...recentSessions, ...staleSessions.filter(({ session_id }) => !known.has(session_id))];
  const open = all.filter(({ state }) => state !== 'ended');
  const ended = all.filter(({ state }) => state === 'ended');
  const count = (wanted: Session['state']) => open.filter(({ state }) => state === wanted).length;
  return (
    <Section title="Agents" about={open.length > 0 && `${counted(count('active'), 'active session')}, ${count('stale')} stale`}>
      <div className="panel">
        {open.length === 0 ? (
          <Nothing>
            <p>No agent has an open session. An agent starts one once it is connected.</p>
            <Link to="/settings" className="link">
              Create a token for an agent
            </Link>
          </Nothing>
        ) : (
          <Table label="Open sessions" columns={SESSION_COLUMNS} rows={open} rowKey={({ session_id }) => session_id} />
        )}
      </div>
      {ended.length > 0 && (
        <details>
          <summary className="cursor-pointer py-1 text-muted">{counted(ended.length, 'ended session')}</summary>
          <div className="panel mt-1">
            <Table label="Ended sessions" columns={SESSION_COLUMNS} rows={ended} rowKey={({ session_id }) => session_id} />
          </div>
        </details>
      )}
    </Section>
  );
}

const SESSION_COLUMNS: readonly Column<Session>[] = [
  {
    label: 'Agent',
    wide: 'sm:w-[22%]',
    card: `max-sm:order-1 ${CARD_TITLE}`,
    cell: ({ developer, agent_name, agent_type }) => <Said text={workerOf(developer, agent_name ?? agent_type ?? 'agent')} brief />,
  },
  { label: 'State', wide: 'sm:w-28 lg:w-34', card: `max-sm:order-2 ${CARD_STATE}`, cell: ({ state }) => <State tone={TONES[state]}>{state}</State> },
  {
    label: 'Doing',
    card: 'max-sm:order-3 max-sm:w-full',
    cell: ({ last_activity }) => (last_activity === null ? <span className="max-sm:hidden">—</span> : <Said text={last_activity} brief />),
  },
  {
    label: 'Where',
    wide: 'sm:w-[22%]',
    card: 'text-muted max-sm:order-4',
    cell: ({ repo, branch }) => (repo === null && branch === null ? '—' : <Said text={[repo, branch].filter(Boolean).join(' · ')} brief />),
  },
  {
    label: 'Last seen',
    wide: 'sm:w-20 lg:w-28',
    card: "text-muted max-sm:order-4 max-sm:ml-auto max-sm:before:content-['last_seen:_']",
    cell: ({ last_seen_at }) => <Time at={last_seen_at} />,
  },
];

import { getRouteApi, Link } from '@tanstack/react-router';
import type { Cycle, ShownCycle } from '../../api.ts';
import { ConfirmAction } from '../../parts/actions.tsx';
import { ActorName } from '../../parts/actor-name.tsx';
import { CliCommand } from '../../parts/command.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Notice, PanelList, Section, State, type Tone } from '../../parts/layout.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePageSearch } from '../../parts/page-search.tsx';
import { counted, Elapsed, escapeBidi, Id, RepositoryName, Time, Until, UntrustedText } from '../../parts/values.tsx';
import { useRead } from '../../queries.ts';
import { CycleActions } from './cycle-actions.tsx';
import { CYCLE_TONES } from './cycles.tsx';
import { HandoffPanel } from './handoff-panel.tsx';
import { Handoffs } from './handoffs.tsx';
import { Phases } from './phases.tsx';

const route = getRouteApi('/cycles/$cycle');

/** The page polls, because no event reports that a session has expired. */
const POLL_MS = 30_000;

export function CyclePage() {
  const { cycle: id } = route.useParams();
  const query = useRead('cycles.show', { id, handoffs: 0 }, { pollMs: POLL_MS });
  const feature = query.data?.cycle?.feature;
  return (
    <>
      <title>{`${escapeBidi(feature ?? 'Cycle')} · Covenant`}</title>
      <p className="text-label">
        <Link to="/cycles" className="link">
          Cycles
        </Link>
      </p>
      {feature === undefined && <h1>Cycle</h1>}
      <Loaded query={query} what="The cycle">
        {(shown) => shown.cycle && <CycleDetails shown={shown} cycle={shown.cycle} />}
      </Loaded>
    </>
  );
}

function CycleDetails({ shown, cycle }: { shown: ShownCycle; cycle: Cycle }) {
  const [{ handoff }, change] = usePageSearch('/cycles/$cycle');
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0 wrap-anywhere">
          <UntrustedText text={cycle.feature} />
        </h1>
        <State tone={CYCLE_TONES[cycle.status]}>{cycle.status}</State>
        <div className="ml-auto flex flex-wrap gap-2">
          <CycleActions cycle={cycle} machine={shown.machine} />
        </div>
      </div>
      <CycleSummary cycle={cycle} />
      {shown.config_error !== null && (
        <div className="mt-3">
          <Notice tone="wait">
            <UntrustedText text={shown.config_error} />
          </Notice>
        </div>
      )}
      <div className="panel mt-3 p-3">
        <Phases machine={shown.machine} taken={shown.taken} phase={cycle.status === 'active' ? cycle.phase : null} />
      </div>
      <div className="mt-6 grid gap-x-6 gap-y-7 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Handoffs cycle={cycle} total={shown.handoffs_total} />
        <div className="grid content-start gap-7">
          <About cycle={cycle} />
          <Sessions sessions={shown.sessions} />
        </div>
      </div>
      {handoff !== undefined && (
        <HandoffPanel key={handoff} cycle={cycle} number={handoff} onClose={() => void change({ handoff: undefined, whole: undefined })} />
      )}
    </>
  );
}

/** Shows which role has its turn, or how the cycle ended. */
function CycleSummary({ cycle }: { cycle: Cycle }) {
  if (cycle.status === 'active') {
    return (
      <p className="mt-1">
        <strong className="font-semibold text-live">{cycle.active_role}</strong>’s turn, phase {cycle.phase}. Lock held by {cycle.lock_role} for{' '}
        <Elapsed since={cycle.lock_acquired_at} />.{cycle.reworks > 0 && ` Rework: ${counted(cycle.reworks, 'round')}.`}
      </p>
    );
  }
  return (
    <>
      <p className="mt-1 flex flex-wrap gap-x-1">
        {cycle.status === 'archived' ? 'Archived' : `Cancelled in phase ${cycle.phase}`}
        {cycle.ended_at !== null && <Time at={cycle.ended_at} />}
        {cycle.ended_by !== null && (
          <>
            {' by '}
            <ActorName actor={cycle.ended_by} />
          </>
        )}
      </p>
      {cycle.reason !== null && (
        <p>
          Reason: <UntrustedText text={cycle.reason} />
        </p>
      )}
      <div className="mt-2 max-w-2xl">
        <CliCommand words="cycle start" options={{ feature: 'NAME', repository: cycle.repository }} />
      </div>
    </>
  );
}

function About({ cycle }: { cycle: Cycle }) {
  return (
    <Section title="About">
      <div className="panel p-3">
        <Facts
          facts={{
            Repository: <RepositoryName path={cycle.repository} />,
            Cycle: <UntrustedText text={cycle.cycle_id} />,
            Id: <Id id={cycle.id} />,
            Mode: <UntrustedText text={cycle.mode} />,
            Started: (
              <span className="flex flex-wrap gap-x-1">
                <Time at={cycle.created_at} /> by <ActorName actor={cycle.started_by} />
              </span>
            ),
            Completed: cycle.completed_at && <Time at={cycle.completed_at} />,
            Archive: cycle.archive && <UntrustedText text={cycle.archive} className="mono" />,
          }}
        />
      </div>
    </Section>
  );
}

type RoleSession = ShownCycle['sessions'][number];

const SESSION_TONES: Record<RoleSession['status'], Tone> = { open: 'live', closed: 'quiet', expired: 'quiet' };

function Sessions({ sessions }: { sessions: readonly RoleSession[] }) {
  const open = sessions.filter(({ status }) => status === 'open');
  const over = sessions.filter(({ status }) => status !== 'open');
  return (
    <Section title="Role sessions" about={counted(open.length, 'open session')}>
      <PanelList items={open} empty="No open sessions. Agents open one with session.open and the key of their role.">
        {(session) => <SessionItem key={session.session_id} session={session} />}
      </PanelList>
      {over.length > 0 && (
        <details>
          <summary className="cursor-pointer py-1 text-muted">{counted(over.length, 'ended session')}</summary>
          <PanelList items={over} empty="" className="mt-1">
            {(session) => <SessionItem key={session.session_id} session={session} />}
          </PanelList>
        </details>
      )}
    </Section>
  );
}

function SessionItem({ session: { session_id, role, actor, status, last_seen, expires_at, closed_at } }: { session: RoleSession }) {
  return (
    <li data-id={session_id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
      <span className="font-medium">{role}</span>
      <span className="min-w-0 wrap-anywhere text-muted">
        <ActorName actor={actor} />
      </span>
      <span className="ml-auto text-label text-muted">
        {status === 'open' ? (
          <>
            <span className="block">
              used <Time at={last_seen} />
            </span>
            <span className="block">
              expires <Until at={expires_at} />
            </span>
          </>
        ) : (
          <Time at={closed_at ?? expires_at} />
        )}
      </span>
      <State tone={SESSION_TONES[status]}>{status}</State>
      {status === 'open' && (
        <ConfirmAction
          button="Close"
          look="plain"
          small
          needs="operator"
          name={`Close the session of ${escapeBidi(role)}`}
          title={`Close the session of ${role}?`}
          act="Close session"
          keep="Keep open"
          action="cycles.close_session"
          input={{ session_id }}
          failed="The session was not closed."
          command={`cycle close-session ${session_id}`}
          toast={`Closed the session of ${role}.`}
        >
          <p>The session’s token is refused from now on. The role can open a new session with its key. The cycle and its lock do not change.</p>
        </ConfirmAction>
      )}
    </li>
  );
}

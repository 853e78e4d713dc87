import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { Cycle, ShownCycle } from '../../api.ts';
import { CliCommand } from '../../parts/cli.tsx';
import { Id } from '../../parts/id.tsx';
import { Problem } from '../../parts/problem.tsx';
import { escapeBidi, UntrustedText } from '../../parts/said.tsx';
import { Section } from '../../parts/section.tsx';
import { Fact, Facts } from '../../parts/side-panel.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { dateOf, Time } from '../../parts/time.tsx';
import { Notice, State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { Who } from '../events/who.tsx';
import { CycleActions } from './cycle-actions.tsx';
import { HandoffPanel } from './handoff-panel.tsx';
import { Handoffs } from './handoffs.tsx';
import { PhaseMachine } from './machine.tsx';
import { Sessions } from './sessions.tsx';
import { repositoryName, STATUS_TONES } from './status.ts';

const route = getRouteApi('/cycles/$cycle');

/** A session expires by time alone. */
const LOOK_MS = 30_000;

/** Whose turn, since when, what was handed over? */
export function CyclePage() {
  const { cycle: id } = route.useParams();
  const { data, error, refetch } = useRead('cycles.show', { id, handoffs: 0 }, { everyMs: LOOK_MS });
  return (
    <>
      <title>{`${escapeBidi(data?.cycle?.feature ?? 'Cycle')} · Covenant`}</title>
      <p className="text-label">
        <Link to="/cycles" className="link">
          Cycles
        </Link>
      </p>
      {!data?.cycle && <h1>Cycle</h1>}
      {error && (
        <div className="mt-3">
          <Problem what="The cycle could not be read." error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!data && !error && (
        <div className="panel mt-3">
          <TableSkeleton />
        </div>
      )}
      {data?.cycle && <Shown shown={data} cycle={data.cycle} />}
    </>
  );
}

function Shown({ shown, cycle }: { shown: ShownCycle; cycle: Cycle }) {
  const { handoff } = route.useSearch();
  const navigate = useNavigate();
  const isActive = cycle.status === 'active';
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0 wrap-anywhere">
          <UntrustedText text={cycle.feature} />
        </h1>
        <State tone={STATUS_TONES[cycle.status]}>{cycle.status}</State>
        <div className="ml-auto flex flex-wrap gap-2">
          <CycleActions cycle={cycle} machine={shown.machine} />
        </div>
      </div>
      <Standing cycle={cycle} />
      {shown.config_error !== null && (
        <div className="mt-3">
          <Notice tone="wait">
            <UntrustedText text={shown.config_error} />
          </Notice>
        </div>
      )}
      <div className="panel mt-3 p-3">
        <PhaseMachine machine={shown.machine} taken={shown.taken} phase={isActive ? cycle.phase : null} />
      </div>
      <div className="mt-6 grid gap-x-6 gap-y-7 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Handoffs cycle={cycle} total={shown.handoffs_total} />
        <div className="grid content-start gap-7">
          <About cycle={cycle} />
          <Sessions sessions={shown.sessions} />
        </div>
      </div>
      {handoff !== undefined && (
        <HandoffPanel
          key={handoff}
          cycle={cycle}
          number={handoff}
          onClose={() => void navigate({ to: '/cycles/$cycle', params: { cycle: cycle.id }, search: {}, resetScroll: false })}
        />
      )}
    </>
  );
}

/** The answer to the question of the page, in a sentence. */
function Standing({ cycle }: { cycle: Cycle }) {
  if (cycle.status === 'active') {
    return (
      <p className="mt-1">
        Turn of <strong className="font-semibold text-live">{cycle.active_role}</strong> in the phase {cycle.phase}. {cycle.lock_role} has had the lock for{' '}
        <Time at={cycle.lock_acquired_at} />.{cycle.reworks > 0 && ` The work went back ${cycle.reworks === 1 ? 'once' : `${cycle.reworks} times`}.`}
      </p>
    );
  }
  return (
    <>
      <p className="mt-1 flex flex-wrap gap-x-1">
        {cycle.status === 'archived' ? 'Archived' : `Cancelled in the phase ${cycle.phase}`}
        {cycle.ended_at !== null && ` on ${dateOf(cycle.ended_at)}`}
        {cycle.ended_by !== null && (
          <>
            {' by '}
            <Who actor={cycle.ended_by} />
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
        <Facts>
          <Fact name="Repository">
            <span title={cycle.repository}>
              <UntrustedText text={repositoryName(cycle.repository)} />
            </span>
          </Fact>
          <Fact name="Cycle">
            <UntrustedText text={cycle.cycle_id} />
          </Fact>
          <Fact name="Id">
            <Id id={cycle.id} />
          </Fact>
          <Fact name="Mode">
            <UntrustedText text={cycle.mode} />
          </Fact>
          <Fact name="Started">
            <span className="flex flex-wrap gap-x-1">
              <Time at={cycle.created_at} /> ago by <Who actor={cycle.started_by} />
            </span>
          </Fact>
          <Fact name="Completed">{cycle.completed_at && <Time at={cycle.completed_at} />}</Fact>
          <Fact name="Archive">
            {cycle.archive && (
              <span className="mono">
                <UntrustedText text={cycle.archive} />
              </span>
            )}
          </Fact>
        </Facts>
      </div>
    </Section>
  );
}

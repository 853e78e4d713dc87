import { Problem } from '../../parts/problem.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { useRead } from '../../queries.ts';
import { ActiveWork } from './active-work.tsx';
import { Agents } from './agents.tsx';
import { Approvals, useApprovals } from './approvals.tsx';
import { Questions } from './questions.tsx';
import { Since } from './since.tsx';
import { Waiting } from './waiting.tsx';

/** A session goes stale by time alone, and is heard of by calls that change nothing else. */
const LOOK_MS = 30_000;

/** What needs me, who is working, what changed? */
export function Now() {
  const { data: state, error, refetch } = useRead('team.state', {}, { everyMs: LOOK_MS });
  const approvals = useApprovals();
  const waiting = state ? state.nextActions.length + state.questions.length + approvals.items.length : 0;
  return (
    <>
      <title>{waiting > 0 ? `(${waiting}) Now · Covenant` : 'Now · Covenant'}</title>
      <h1>Now</h1>
      {error && (
        <div className="mt-3">
          <Problem what="The state of the team could not be read." error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!state && !error && (
        <div className="panel mt-3">
          <TableSkeleton />
        </div>
      )}
      {state && (
        <div className="mt-3 grid gap-x-6 gap-y-7 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
          <div className="grid content-start gap-7">
            <Approvals {...approvals} />
            <Questions />
            <Waiting actions={state.nextActions} besides={state.questions.length + approvals.items.length > 0} />
            <Agents state={state} />
            <ActiveWork state={state} />
          </div>
          <Since state={state} />
        </div>
      )}
    </>
  );
}

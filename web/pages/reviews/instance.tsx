import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import type { Instance, ShownInstance } from '../../api.ts';
import { Problem } from '../../parts/problem.tsx';
import { TableSkeleton } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Notice, State } from '../../parts/tone.tsx';
import { Views } from '../../parts/views.tsx';
import { useRead } from '../../queries.ts';
import { InstanceActions } from './instance-actions.tsx';
import { InstanceFacts } from './instance-facts.tsx';
import { Rail } from './rail.tsx';
import { inWords, STATUS_TONES } from './status.ts';

const route = getRouteApi('/reviews/$instance');

/** The instance of the address, as every view of its page reads it. */
export function useShown() {
  const { instance } = route.useParams();
  return useRead('instances.show', { instance_id: instance });
}

/** One agent that the server has started: how its reviews went, what it shows and what it has changed. */
export function InstancePage() {
  const { instance: id } = route.useParams();
  const { data, error, refetch } = useShown();
  return (
    <>
      <title>{`${id} · Covenant`}</title>
      <p className="text-label">
        <Link to="/reviews" className="link">
          Reviews
        </Link>
      </p>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="mono text-title!">{id}</h1>
        {data && <State tone={STATUS_TONES[data.instance.status]}>{inWords(data.instance.status)}</State>}
        {data && (
          <span className="text-muted">
            {data.instance.type}, started <Time at={data.instance.created_at} /> {isDate(data.instance.created_at) ? '' : 'ago'}
          </span>
        )}
      </div>
      {error && (
        <div className="mt-3">
          <Problem what="It could not be read." error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {!data && !error && <TableSkeleton />}
      {data && <Shown shown={data} />}
    </>
  );
}

const DAY_MS = 24 * 60 * 60_000;
const isDate = (at: number): boolean => Date.now() - at >= DAY_MS;

function Shown({ shown }: { shown: ShownInstance }) {
  const { instance, feedback } = shown;
  const params = { instance: instance.id };
  return (
    <>
      <div className="mt-3 grid gap-4">
        {instance.at_limit && <AtLimit instance={instance} />}
        <InstanceActions instance={instance} />
        <Rail shown={shown} />
        <InstanceFacts shown={shown} />
      </div>
      <Views
        label="Views of this instance"
        views={[
          { to: '/reviews/$instance', params, label: 'Terminal' },
          { to: '/reviews/$instance/diff', params, label: 'Diff' },
          { to: '/reviews/$instance/feedback', params, label: 'Feedback', count: feedback.length },
          { to: '/reviews/$instance/history', params, label: 'History' },
        ]}
      />
      <Outlet />
    </>
  );
}

/** Why no further review is granted, and what else there is to do. */
function AtLimit({ instance: { id, reviews, max_reviews, failed_reviews, max_failed_reviews, suggestions } }: { instance: Instance }) {
  return (
    <Notice tone="bad">
      <p className="font-medium">
        Review limit reached: {id} has had {reviews} of {max_reviews} reviews, {failed_reviews} failed. No further review is started.
      </p>
      <ul className="mt-1 list-disc pl-5">
        {suggestions.map((suggestion) => (
          <li key={suggestion}>{suggestion}</li>
        ))}
        <li>Allow one more round, if another look is worth it</li>
      </ul>
      {failed_reviews + 1 >= max_failed_reviews && <p className="mt-1">One more failed review, and it is abandoned.</p>}
    </Notice>
  );
}

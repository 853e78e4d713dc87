import { Link } from '@tanstack/react-router';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Said } from '../../parts/said.tsx';
import { State } from '../../parts/tone.tsx';
import { useRead } from '../../queries.ts';
import { STATUS_TONES } from './status.ts';

/** The workstream that the list is narrowed to. */
export function Workstream({ id }: { id: string }) {
  const { data, error, refetch } = useRead('workstreams.show', { workstream_id: id });
  if (error) return <Problem what="The workstream could not be read." error={error} onRetry={() => void refetch()} />;
  return (
    <section aria-label="Workstream" className="panel flex flex-wrap items-start gap-x-3 gap-y-1 p-3">
      <div className="grid min-w-0 flex-1 gap-1">
        <p className="font-medium">
          <span className="text-muted">Workstream </span>
          {data && <Said text={data.title} brief />}
        </p>
        {data?.description && (
          <p className="text-muted">
            <Said text={data.description} brief />
          </p>
        )}
        {data && (
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <State tone={STATUS_TONES[data.status]}>{data.status}</State>
            <Said text={data.owner} />
            <span className="text-muted">
              <Link to="/tasks" search={{ workstream: data.workstream_id, status: 'all' }} className="hover:underline">
                {counted(data.tasks.all, 'task')}
              </Link>
              ,{' '}
              <Link to="/tasks" search={{ workstream: data.workstream_id }} className="hover:underline">
                {data.tasks.open.toLocaleString()} open
              </Link>
            </span>
            <Id id={data.workstream_id} />
          </p>
        )}
      </div>
      <Link to="/tasks" className="button">
        All tasks
      </Link>
    </section>
  );
}

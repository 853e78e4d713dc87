import { Link } from '@tanstack/react-router';
import type { TeamState } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { Id } from '../../parts/id.tsx';
import { Said } from '../../parts/said.tsx';
import { Nothing, Section } from '../../parts/section.tsx';

type NextAction = TeamState['nextActions'][number];

/** What the signed-in developer should do next, most pressing first; `besides` questions that stand above. */
export function Waiting({ actions, besides }: { actions: readonly NextAction[]; besides: boolean }) {
  return (
    <Section title="Waiting on you" about={actions.length > 0 && counted(actions.length, 'step')}>
      {actions.length === 0 ? (
        <div className="panel">
          <Nothing>{besides ? 'Nothing else waits on you.' : 'Nothing waits on you.'}</Nothing>
        </div>
      ) : (
        <ol className="panel divide-y divide-line">
          {actions.map((next) => (
            <li
              key={`${next.about} ${next.action}`}
              className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3 gap-y-1.5 px-3 py-1.5 sm:grid-cols-[auto_minmax(0,1fr)_auto]"
            >
              <span aria-hidden="true" className="text-you">
                ◆
              </span>
              <p>
                <Said text={next.action} />
              </p>
              {next.about && (
                <span className="max-sm:col-start-2">
                  <About id={next.about} />
                </span>
              )}
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

/** The way to what it is about, where it has a page. */
function About({ id }: { id: string }) {
  if (id.startsWith('task_')) {
    return (
      <Link to="/tasks" search={{ task: id }} className="button">
        Open task
      </Link>
    );
  }
  if (id.startsWith('warn_')) {
    return (
      <Link to="/tasks/overlaps" search={{ warning: id }} className="button">
        Open overlap
      </Link>
    );
  }
  return <Id id={id} />;
}

import { Link } from '@tanstack/react-router';
import { counted } from '../../parts/count.ts';
import { Said } from '../../parts/said.tsx';
import { Notice } from '../../parts/tone.tsx';

export interface Planned {
  readonly title: string;
  readonly workstream: string | null;
  readonly alike: number;
  readonly warning: string | null;
}

/** What was planned, and what it looks like. */
export function PlannedNotice({ planned: { title, workstream, alike, warning }, onDone }: { planned: Planned; onDone: () => void }) {
  return (
    <div className="mt-3">
      <Notice tone={alike > 0 ? 'wait' : 'good'} role="status">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <p className="min-w-0 flex-1">
            Planned “
            <Said text={title} />
            ”.{' '}
            {alike > 0 && warning && (
              <>
                It looks like {counted(alike, 'other piece of work', 'other pieces of work')}.{' '}
                <Link to="/tasks/overlaps" search={{ warning }} className="underline underline-offset-2">
                  Compare them
                </Link>{' '}
              </>
            )}
            {workstream && (
              <Link to="/tasks" search={{ workstream, status: 'all' }} className="underline underline-offset-2">
                Open the workstream
              </Link>
            )}
          </p>
          <button type="button" className="button text-text" onClick={onDone}>
            Done
          </button>
        </div>
      </Notice>
    </div>
  );
}

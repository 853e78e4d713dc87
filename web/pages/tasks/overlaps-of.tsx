import { Link } from '@tanstack/react-router';
import type { Task } from '../../api.ts';
import { counted } from '../../parts/count.ts';
import { State } from '../../parts/tone.tsx';

/** How many overlaps were found for a task, which opens exactly those: the open ones first, as long as there are any. */
export function OverlapsOf({ task: { task_id, overlaps } }: { task: Pick<Task, 'task_id' | 'overlaps'> }) {
  const { all, open } = overlaps;
  if (all === 0) return <span className="text-muted [td_&]:max-sm:hidden">none</span>;
  return (
    <Link
      to="/tasks/overlaps"
      search={{ subject: task_id, ...(open > 0 && { status: 'open' as const }) }}
      aria-label={counted(open || all, open > 0 ? 'open overlap' : 'resolved overlap')}
      className="hover:underline"
    >
      <State tone={open > 0 ? 'wait' : 'quiet'}>{open > 0 ? `${open} open` : `${all} resolved`}</State>
    </Link>
  );
}

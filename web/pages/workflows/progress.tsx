import { Link } from '@tanstack/react-router';
import type { Workflow } from '../../api.ts';
import { FILLS, type Tone } from '../../parts/layout.tsx';
import { type StepStatus, statusWords } from './status.ts';

type Counts = Workflow['by_status'];

export const tasksIn = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
export const doneIn = ({ completed, skipped }: Counts): number => completed + skipped;
export const runningIn = ({ planning, in_progress }: Counts): number => planning + in_progress;

/** The parts of the progress bar, from left to right. */
const PARTS = [
  ['completed', 'good'],
  ['skipped', 'quiet'],
  ['in_progress', 'live'],
  ['planning', 'live'],
  ['paused', 'wait'],
  ['failed', 'bad'],
] as const satisfies readonly (readonly [StepStatus, Tone])[];

export function ProgressBar({ counts }: { counts: Counts }) {
  const total = tasksIn(counts);
  return (
    <div aria-hidden="true" className="flex h-1.5 overflow-hidden rounded-full bg-quiet-tint">
      {PARTS.map(
        ([status, tone]) => counts[status] > 0 && <span key={status} className={FILLS[tone]} style={{ width: `${(100 * counts[status]) / total}%` }} />,
      )}
    </div>
  );
}

const SHOWN = ['completed', 'skipped', 'in_progress', 'planning', 'paused', 'failed', 'pending', 'blocked'] as const satisfies readonly StepStatus[];

/** Shows how many tasks are in each status. A click on a number opens the list of these tasks. */
export function StatusCounts({ workflow, counts }: { workflow: string; counts: Counts }) {
  return (
    <ul aria-label="Tasks by status" className="flex flex-wrap gap-x-4 gap-y-1">
      {SHOWN.filter((status) => counts[status] > 0).map((status) => (
        <li key={status}>
          <Link
            to="/workflows/$workflow/list"
            params={{ workflow }}
            search={{ status }}
            className="inline-flex items-center hover:underline pointer-coarse:min-h-11"
          >
            {counts[status].toLocaleString()} {statusWords(status)}
          </Link>
        </li>
      ))}
    </ul>
  );
}

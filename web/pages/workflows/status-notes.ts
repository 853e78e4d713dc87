import type { ShownWorkflow } from '../../api.ts';
import type { Tone } from '../../parts/layout.tsx';
import { counted } from '../../parts/values.tsx';
import type { WorkflowState } from './status.ts';

/** Returns the reasons why a workflow makes no progress, the most urgent first. */
export function statusNotes({ workflow, progress, next, claims }: ShownWorkflow): StatusNote[] {
  const asking = claims.filter(({ question_id }) => question_id !== null).length;
  const notes: StatusNote[] = asking > 0 ? [{ tone: 'you', words: `${counted(asking, 'task waits', 'tasks wait')} for your answer.` }] : [];
  const notRunning = NOT_RUNNING[workflow.status];
  if (notRunning) notes.push({ tone: notRunning[0], words: notRunning[1], reason: workflow.status_reason });
  if (workflow.status !== 'in_progress') return notes;
  return [...notes, ...notesWhileRunning(progress, next)];
}

interface StatusNote {
  readonly tone: Tone;
  readonly words: string;
  /** The reason that the person or agent gave when they set the status. */
  readonly reason?: string | null;
}

const NOT_RUNNING: Partial<Record<WorkflowState, readonly [Tone, string]>> = {
  planning: ['quiet', 'No plan yet. An agent sets it with workflow_set_plan.'],
  ready: ['quiet', 'Planned, not started. The workflow starts when an agent claims its first task.'],
  paused: ['wait', 'Paused. No new tasks are handed out until you resume it.'],
  failed: ['bad', 'Failed. No new tasks are handed out until you resume it.'],
  completed: ['good', 'Completed.'],
  abandoned: ['bad', 'Abandoned. Its tasks keep their last status.'],
};

/** Returns notes for a workflow in progress. It needs one only if it is stuck or all its tasks are done. */
function notesWhileRunning({ by_status, all_complete }: ShownWorkflow['progress'], { available, claimed, max_parallel }: ShownWorkflow['next']): StatusNote[] {
  if (all_complete) return [{ tone: 'good', words: 'All tasks are done. Complete the workflow, or let an agent plan more.' }];
  const free = counted(available, 'task');
  if (available > 0 && claimed >= max_parallel) {
    return [{ tone: 'wait', words: `${free} ready, but the limit of ${max_parallel} parallel tasks is reached (${claimed.toLocaleString()} claimed).` }];
  }
  if (available > 0 && claimed === 0) return [{ tone: 'wait', words: `No agent is working on it. ${free} ready to claim.` }];
  if (available === 0 && claimed === 0 && by_status.paused > 0) {
    return [
      {
        tone: 'wait',
        words: `No agent is working on it. ${counted(by_status.paused, 'task')} paused; all other tasks wait for ${by_status.paused === 1 ? 'it' : 'them'}.`,
      },
    ];
  }
  return [];
}

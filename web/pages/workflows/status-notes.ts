import type { ShownWorkflow } from '../../api.ts';
import type { Tone } from '../../parts/layout.tsx';
import { counted } from '../../parts/values.tsx';
import type { WorkflowState } from './status.ts';

/** Notes that say why a workflow does not go on, the most urgent first. */
export function statusNotes({ workflow, progress, next, claims }: ShownWorkflow): StatusNote[] {
  const asking = claims.filter(({ question_id }) => question_id !== null).length;
  const notes: StatusNote[] = asking > 0 ? [{ tone: 'you', words: `${counted(asking, 'task waits', 'tasks wait')} for an answer of yours.` }] : [];
  const notRunning = NOT_RUNNING[workflow.status];
  if (notRunning) notes.push({ tone: notRunning[0], words: notRunning[1], reason: workflow.status_reason });
  if (workflow.status !== 'in_progress') return notes;
  return [...notes, ...notesWhileRunning(progress, next)];
}

interface StatusNote {
  readonly tone: Tone;
  readonly words: string;
  /** The words of the person or agent that set the status. */
  readonly reason?: string | null;
}

const NOT_RUNNING: Partial<Record<WorkflowState, readonly [Tone, string]>> = {
  planning: ['quiet', 'It has no plan yet: an agent makes one with workflow_set_plan.'],
  ready: ['quiet', 'Planned, and not begun: the first task that an agent takes up sets it going.'],
  paused: ['wait', 'Paused: no further task is taken up until it is resumed.'],
  failed: ['bad', 'Failed: no further task is taken up until it is resumed.'],
  completed: ['good', 'Completed.'],
  abandoned: ['bad', 'Abandoned: it stays as it was left.'],
};

/** Work in progress needs a note only if it is stuck or done. */
function notesWhileRunning({ by_status, all_complete }: ShownWorkflow['progress'], { available, claimed, max_parallel }: ShownWorkflow['next']): StatusNote[] {
  if (all_complete) return [{ tone: 'good', words: 'Every task is done. Complete it, or let an agent plan more.' }];
  const free = counted(available, 'task');
  if (available > 0 && claimed >= max_parallel) {
    return [{ tone: 'wait', words: `${free} could be taken up, but ${counted(claimed, 'is', 'are')} claimed, and at most ${max_parallel} may be at once.` }];
  }
  if (available > 0 && claimed === 0) return [{ tone: 'wait', words: `Nobody works on it: ${free} could be taken up.` }];
  if (available === 0 && claimed === 0 && by_status.paused > 0) {
    return [{ tone: 'wait', words: `Nobody works on it: ${counted(by_status.paused, 'task is', 'tasks are')} paused, and all others wait for those.` }];
  }
  return [];
}

import type { ShownWorkflow, Workflow, WorkflowTask, WorkflowTimeline } from '../../api.ts';
import type { Tone } from '../../parts/layout.tsx';
import { counted } from '../../parts/values.tsx';

export type WorkflowState = Workflow['status'];
export type StepStatus = WorkflowTask['status'];
export type LaneSpanEnd = WorkflowTimeline['lanes'][number]['spans'][number]['end'];

export const WORKFLOW_TONES: Record<WorkflowState, Tone> = {
  planning: 'quiet',
  ready: 'quiet',
  in_progress: 'live',
  paused: 'wait',
  completed: 'good',
  failed: 'bad',
  abandoned: 'bad',
};

export const TASK_TONES: Record<StepStatus, Tone> = {
  completed: 'good',
  skipped: 'quiet',
  in_progress: 'live',
  planning: 'quiet',
  paused: 'wait',
  failed: 'bad',
  pending: 'quiet',
  blocked: 'wait',
};

/** How the time ended in which an agent had a task. */
export const SPAN_TONES: Record<LaneSpanEnd, Tone> = {
  open: 'live',
  completed: 'good',
  failed: 'bad',
  lost: 'bad',
  skipped: 'quiet',
  released: 'quiet',
  replanned: 'wait',
};
export const SPAN_WORDS: Record<LaneSpanEnd, string> = {
  open: 'at work',
  completed: 'completed',
  failed: 'failed',
  lost: 'lost: lease expired',
  skipped: 'skipped',
  released: 'released',
  replanned: 'replanned',
};

export const laneName = ({ agent_id, agent_name }: Pick<WorkflowTimeline['lanes'][number], 'agent_id' | 'agent_name'>): string =>
  agent_name ?? agent_id ?? 'without a claim';

/** As people write it. */
export const said = (status: WorkflowState | ListedStatus): string => status.replace('_', ' ');

const choices = <S extends WorkflowState | StepStatus>(tones: Record<S, Tone>): readonly (readonly [S, string])[] =>
  (Object.keys(tones) as S[]).map((status) => [status, said(status).replace(/^./, (letter) => letter.toUpperCase())] as const);

export const WORKFLOW_CHOICES = choices(WORKFLOW_TONES);

/** What a list of tasks can be narrowed to; what agents are at is two statuses. */
export type ListedStatus = StepStatus | 'running';
export const TASK_CHOICES: readonly (readonly [ListedStatus, string])[] = [['running', 'Running'], ...choices(TASK_TONES)];
export const statusesOf = (chosen: ListedStatus): StepStatus[] => (chosen === 'running' ? ['planning', 'in_progress'] : [chosen]);

const ENDED: readonly WorkflowState[] = ['completed', 'abandoned'];
export const isEnded = (status: WorkflowState): boolean => ENDED.includes(status);

interface StatusNote {
  readonly tone: Tone;
  readonly words: string;
  /** The words of the person or agent that set the status. */
  readonly reason?: string | null;
}

const OUTSIDE: Partial<Record<WorkflowState, readonly [Tone, string]>> = {
  planning: ['quiet', 'It has no plan yet: an agent makes one with workflow_set_plan.'],
  ready: ['quiet', 'Planned, and not begun: the first task that an agent takes up sets it going.'],
  paused: ['wait', 'Paused: no further task is taken up until it is resumed.'],
  failed: ['bad', 'Failed: no further task is taken up until it is resumed.'],
  completed: ['good', 'Completed.'],
  abandoned: ['bad', 'Abandoned: it stays as it was left.'],
};

/** Why it goes on or does not, the most urgent first. */
export function statusNotes({ workflow, progress, next, claims }: ShownWorkflow): StatusNote[] {
  const asking = claims.filter(({ question_id }) => question_id !== null).length;
  const found: StatusNote[] = asking > 0 ? [{ tone: 'you', words: `${counted(asking, 'task waits', 'tasks wait')} for an answer of yours.` }] : [];
  const outside = OUTSIDE[workflow.status];
  if (outside) found.push({ tone: outside[0], words: outside[1], reason: workflow.status_reason });
  if (workflow.status !== 'in_progress') return found;
  return [...found, ...running(progress, next)];
}

function running({ by_status, all_complete }: ShownWorkflow['progress'], { available, claimed, max_parallel }: ShownWorkflow['next']): StatusNote[] {
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

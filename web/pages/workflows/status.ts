import type { Workflow, WorkflowTask, WorkflowTimeline } from '../../api.ts';
import type { Tone } from '../../parts/layout.tsx';

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

/** The colours for the ways in which the claim of a task can end. */
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
  open: 'in progress',
  completed: 'completed',
  failed: 'failed',
  lost: 'lost: lease expired',
  skipped: 'skipped',
  released: 'released',
  replanned: 'replanned',
};

export const laneName = ({ agent_id, agent_name }: Pick<WorkflowTimeline['lanes'][number], 'agent_id' | 'agent_name'>): string =>
  agent_name ?? agent_id ?? 'no claim';

/** A status in words. */
export const statusWords = (status: WorkflowState | ListedStatus): string => status.replace('_', ' ');

const choices = <S extends WorkflowState | StepStatus>(tones: Record<S, Tone>): readonly (readonly [S, string])[] =>
  (Object.keys(tones) as S[]).map((status) => [status, statusWords(status).replace(/^./, (letter) => letter.toUpperCase())] as const);

export const WORKFLOW_CHOICES = choices(WORKFLOW_TONES);

/** The choices of the task filter. "running" stands for two statuses. */
export type ListedStatus = StepStatus | 'running';
export const TASK_CHOICES: readonly (readonly [ListedStatus, string])[] = [['running', 'Running'], ...choices(TASK_TONES)];
export const statusesOf = (chosen: ListedStatus): StepStatus[] => (chosen === 'running' ? ['planning', 'in_progress'] : [chosen]);

const ENDED: readonly WorkflowState[] = ['completed', 'abandoned'];
export const isEnded = (status: WorkflowState): boolean => ENDED.includes(status);

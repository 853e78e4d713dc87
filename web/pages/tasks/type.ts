import type { Task } from '../../api.ts';

export type TaskType = Task['task_type'];

/** All of them: the compiler sees to it. */
const NAMES: Record<TaskType, string> = {
  feature: 'Feature',
  bug: 'Bug',
  refactor: 'Refactor',
  chore: 'Chore',
  docs: 'Docs',
  test: 'Test',
  spike: 'Spike',
};

export const TASK_TYPES = Object.entries(NAMES) as [TaskType, string][];

export const taskTypeOf = (value: string): TaskType => TASK_TYPES.find(([type]) => type === value)?.[0] ?? 'feature';

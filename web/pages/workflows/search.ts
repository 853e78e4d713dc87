import { type ListedStatus, TASK_CHOICES, WORKFLOW_CHOICES, type WorkflowStatus } from './status.ts';

const chosen = <S extends string>(choices: readonly (readonly [S, string])[], value: unknown): S | undefined =>
  choices.find(([choice]) => choice === value)?.[0];

export interface WorkflowsSearch {
  status?: WorkflowStatus;
}

export function workflowsSearch(search: Record<string, unknown>): WorkflowsSearch {
  const status = chosen(WORKFLOW_CHOICES, search.status);
  return status ? { status } : {};
}

interface WorkflowSearch {
  /** The task whose panel is open. */
  task?: string;
}

export const workflowSearch = ({ task }: Record<string, unknown>): WorkflowSearch => (typeof task === 'string' && task !== '' ? { task } : {});

interface GraphSearch {
  /** Groups that are shown the other way than by themselves: open or folded. */
  turned?: string[];
}

const MOST_TURNED = 100;

export function graphSearch({ turned }: Record<string, unknown>): GraphSearch {
  if (!Array.isArray(turned)) return {};
  const keys = turned.filter((key): key is string => typeof key === 'string').slice(0, MOST_TURNED);
  return keys.length > 0 ? { turned: keys } : {};
}

interface TimelineSearch {
  /** Idle times are drawn as long as they were. */
  gaps?: true;
  as?: 'table';
}

export const timelineSearch = ({ gaps, as }: Record<string, unknown>): TimelineSearch => ({
  ...(gaps === true && { gaps: true }),
  ...(as === 'table' && { as: 'table' }),
});

export interface ListSearch {
  status?: ListedStatus;
  /** Words of a name. */
  text?: string;
}

export function listSearch(search: Record<string, unknown>): ListSearch {
  const status = chosen(TASK_CHOICES, search.status);
  const text = typeof search.text === 'string' ? search.text.slice(0, 200) : '';
  return { ...(status && { status }), ...(text.trim() && { text }) };
}

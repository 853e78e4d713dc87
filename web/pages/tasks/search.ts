import { type Status, statusOf } from './status.ts';

/** What the address of the list holds: nothing chosen means everything that is open. */
export interface TaskSearch {
  status?: Status;
  mine?: true;
  /** The task whose panel is open. */
  task?: string;
}

export function taskSearch(search: Record<string, unknown>): TaskSearch {
  const status = statusOf(search.status);
  return { ...(status && { status }), ...(search.mine === true && { mine: true }), ...(typeof search.task === 'string' && { task: search.task }) };
}

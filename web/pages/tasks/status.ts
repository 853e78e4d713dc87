import type { Task } from '../../api.ts';
import type { Tone } from '../../parts/layout.tsx';

export type TeamTaskStatus = Task['status'];
export type StatusChoice = TeamTaskStatus | 'all';

export const STATUS_TONES: Record<TeamTaskStatus, Tone> = { planned: 'quiet', active: 'live', blocked: 'wait', completed: 'good', cancelled: 'quiet' };

const OPEN: readonly TeamTaskStatus[] = ['planned', 'active', 'blocked'];
export const isOpen = ({ status }: { status: TeamTaskStatus }): boolean => OPEN.includes(status);

const GROUPS: Record<StatusChoice, string> = {
  planned: 'Planned',
  active: 'Active',
  blocked: 'Blocked',
  completed: 'Completed',
  cancelled: 'Cancelled',
  all: 'All',
};
/** The choices of the status filter. By default it shows all open tasks. */
export const STATUSES = Object.entries(GROUPS) as [StatusChoice, string][];

/** Returns the statuses to ask the server for. Undefined means all of them. */
export const statusesOf = (chosen: StatusChoice | undefined): TeamTaskStatus[] | undefined => (chosen === 'all' ? undefined : chosen ? [chosen] : [...OPEN]);
/** Returns the word before "tasks", as in "open tasks" or "planned tasks". Empty if all tasks are shown. */
export const statusWord = (chosen: StatusChoice | undefined): string => (chosen === 'all' ? '' : `${chosen ?? 'open'} `);

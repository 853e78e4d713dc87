import type { Task } from '../../api.ts';
import type { Tone } from '../../parts/tone.tsx';

export type Status = Task['status'];

/** All of them: the compiler sees to it. */
export const STATUS_TONES: Record<Status, Tone> = { planned: 'quiet', active: 'live', blocked: 'wait', completed: 'good', cancelled: 'quiet' };

const OPEN: readonly Status[] = ['planned', 'active', 'blocked'];
export const isOpen = ({ status }: { status: Status }): boolean => OPEN.includes(status);

const GROUPS: Record<Status, string> = { planned: 'Planned', active: 'Active', blocked: 'Blocked', completed: 'Completed', cancelled: 'Cancelled' };
/** What can be chosen instead of everything that is open. */
export const STATUSES = Object.entries(GROUPS) as [Status, string][];

export const statusOf = (value: unknown): Status | undefined => STATUSES.find(([status]) => status === value)?.[0];
export const statusesOf = (chosen: Status | undefined): Status[] => (chosen ? [chosen] : [...OPEN]);

import type { Instance } from '../../api.ts';
import type { Tone } from '../../parts/layout.tsx';

type Status = Instance['status'];

export const STATUS_TONES: Record<Status, Tone> = {
  started: 'live',
  waiting_review: 'wait',
  pr_created: 'live',
  pr_merged: 'good',
  pr_closed: 'quiet',
  terminated: 'quiet',
  abandoned: 'bad',
};

/** The statuses in which work has not ended. */
export const OPEN_STATUSES: Status[] = ['started', 'waiting_review', 'pr_created', 'pr_closed'];

/** The statuses in which work may still be reviewed. */
export const AT_WORK_STATUSES: readonly Status[] = ['started', 'waiting_review'];

/** Returns the kind of session that the agent runs in, or "ended" if it does not run. */
export const processOf = ({ running, session_kind }: Pick<Instance, 'running' | 'session_kind'>): string => (running ? (session_kind ?? 'starting') : 'ended');

const OUTCOMES: Record<string, Tone> = { approved: 'good', needs_work: 'bad', suggestions: 'wait', clarification: 'wait', timeout: 'bad' };
export const outcomeTone = (outcome: string | null): Tone => (outcome === null ? 'live' : (OUTCOMES[outcome] ?? 'quiet'));

/** Returns a status or an outcome in words. Null means that the review is still running. */
export const statusWords = (outcome: string | null): string => outcome?.replaceAll('_', ' ') ?? 'in progress';

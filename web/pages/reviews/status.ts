import type { Instance } from '../../api.ts';
import type { Tone } from '../../parts/tone.tsx';

type Status = Instance['status'];

/** All of them: the compiler sees to it. */
export const STATUS_TONES: Record<Status, Tone> = {
  started: 'live',
  waiting_review: 'wait',
  pr_created: 'you',
  pr_merged: 'good',
  pr_closed: 'quiet',
  terminated: 'quiet',
  abandoned: 'bad',
};

/** Those whose work is not done with. */
export const OPEN: Status[] = ['started', 'waiting_review', 'pr_created', 'pr_closed'];

const OUTCOMES: Record<string, Tone> = { approved: 'good', needs_work: 'bad', suggestions: 'wait', clarification: 'wait' };
export const outcomeTone = (outcome: string | null): Tone => (outcome === null ? 'live' : (OUTCOMES[outcome] ?? 'quiet'));

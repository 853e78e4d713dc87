import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { ReviewLimits } from '../../core/settings/index.ts';
import type { InstanceStatus } from './contract.ts';

/** Each change of an instance's status, with the statuses from which it is allowed and the new status. */
export const MACHINE = {
  'review requested': { from: ['started'], to: 'waiting_review' },
  'review over': { from: ['waiting_review'], to: 'started' },
  'pull request created': { from: ['started', 'waiting_review'], to: 'pr_created' },
  'pull request merged': { from: ['pr_created', 'pr_closed'], to: 'pr_merged' },
  'pull request closed': { from: ['pr_created'], to: 'pr_closed' },
  'pull request reopened': { from: ['pr_closed'], to: 'pr_created' },
  stopped: { from: ['started', 'waiting_review'], to: 'terminated' },
  abandoned: { from: ['started', 'waiting_review', 'pr_created', 'pr_closed'], to: 'abandoned' },
} as const satisfies Record<string, { from: readonly InstanceStatus[]; to: InstanceStatus }>;
export type InstanceChange = keyof typeof MACHINE;

export const allows = (change: InstanceChange, from: InstanceStatus): boolean => (MACHINE[change].from as readonly InstanceStatus[]).includes(from);

/** Statuses in which the agent should run. */
export const AT_WORK: readonly InstanceStatus[] = ['started', 'waiting_review'];

/** Whether the agent was running at the last check of its process. */
export const isRunning = ({ pid, ended_at, step }: InstanceRow): boolean => pid !== null && ended_at === null && step !== 'ending';

export const SUGGESTIONS = [
  'Create pull request with current work',
  'Abandon this approach and try different solution',
  'Manually review and fix issues before requesting review',
] as const;

/** `ran` is the number of reviews that ran. Refused requests do not count. */
export const isAtLimit = (ran: number, allowed: number): boolean => ran >= allowed;

/** The review limit of the workspace plus the extra reviews of this instance. */
export const reviewsAllowed = ({ extra_reviews }: Pick<InstanceRow, 'extra_reviews'>, { maxIterations }: ReviewLimits): number => maxIterations + extra_reviews;

/** `failed` is the number of refused requests and `needs_work` verdicts. It is counted separately from the number of reviews that ran. */
export const isGivenUp = (failed: number, { autoAbandonAfter }: ReviewLimits): boolean => failed >= autoAbandonAfter;

export const isStuck = (createdAt: number, now: number, { timeoutHours }: ReviewLimits): boolean => now - createdAt >= timeoutHours * 3_600_000;

/** Adds words to the news that the agent has not received yet. All news is typed into the terminal as one line. */
export const withNews = ({ news }: Pick<InstanceRow, 'news'>, words: string): string => (news === null ? words : `${news} ${words}`);

/** Returns the news that was added after `delivered`, which the agent has already received. */
export function newsAfter({ news }: Pick<InstanceRow, 'news'>, delivered: string): string | null {
  if (news === null || news === delivered) return null;
  return news.startsWith(`${delivered} `) ? news.slice(delivered.length + 1) : news;
}

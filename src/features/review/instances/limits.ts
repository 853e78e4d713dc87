import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Limits } from '../../core/settings/index.ts';

export const SUGGESTIONS = [
  'Create pull request with current work',
  'Abandon this approach and try different solution',
  'Manually review and fix issues before requesting review',
] as const;

/** Reviews that ran are counted by their relationships; a refusal is none of them. */
export const isAtLimit = (ran: number, allowed: number): boolean => ran >= allowed;

/** The workspace's limit, and what a person has allowed this one beyond it. */
export const reviewsAllowed = ({ extra_reviews }: Pick<InstanceRow, 'extra_reviews'>, { maxIterations }: Limits): number => maxIterations + extra_reviews;

/** Refused requests and verdicts `needs_work` are counted apart from the reviews that ran. */
export const isGivenUp = (failed: number, { autoAbandonAfter }: Limits): boolean => failed >= autoAbandonAfter;

export const isStuck = (createdAt: number, now: number, { timeoutHours }: Limits): boolean => now - createdAt >= timeoutHours * 3_600_000;

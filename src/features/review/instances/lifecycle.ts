import type { InstanceStatus } from './contract.ts';

/** What may become of an instance, and by what. */
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
export type Change = keyof typeof MACHINE;

export const allows = (change: Change, from: InstanceStatus): boolean => (MACHINE[change].from as readonly InstanceStatus[]).includes(from);

/** Statuses in which its agent is meant to run. */
export const AT_WORK: readonly InstanceStatus[] = ['started', 'waiting_review'];

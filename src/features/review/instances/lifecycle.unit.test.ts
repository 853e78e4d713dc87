import { expect, test } from 'vitest';
import { INSTANCE_STATUSES, INSTANCE_TYPES } from './contract.ts';
import { allows, type InstanceChange, MACHINE } from './lifecycle.ts';

/** The allowed changes for each status, and the status after each of them. The implementation lists the same rules by change. */
const MAY: Record<(typeof INSTANCE_STATUSES)[number], Partial<Record<InstanceChange, string>>> = {
  started: { 'review requested': 'waiting_review', 'pull request created': 'pr_created', stopped: 'terminated', abandoned: 'abandoned' },
  waiting_review: { 'review over': 'started', 'pull request created': 'pr_created', stopped: 'terminated', abandoned: 'abandoned' },
  pr_created: { 'pull request merged': 'pr_merged', 'pull request closed': 'pr_closed', abandoned: 'abandoned' },
  pr_closed: { 'pull request merged': 'pr_merged', 'pull request reopened': 'pr_created', abandoned: 'abandoned' },
  pr_merged: {},
  terminated: {},
  abandoned: {},
};

test('statuses and types match the documentation, and each change is possible only from the allowed statuses [review.instance.statuses] [review.instance.types]', () => {
  expect(INSTANCE_STATUSES).toEqual(['started', 'waiting_review', 'pr_created', 'pr_merged', 'pr_closed', 'terminated', 'abandoned']);
  expect(INSTANCE_TYPES).toEqual(['coding', 'review', 'planning']);
  for (const status of INSTANCE_STATUSES) {
    const changes = (Object.keys(MACHINE) as InstanceChange[]).filter((change) => allows(change, status));
    expect([status, Object.fromEntries(changes.map((change) => [change, MACHINE[change].to]))]).toEqual([status, MAY[status]]);
  }
});

import { expect, test } from 'vitest';
import { INSTANCE_STATUSES, INSTANCE_TYPES } from './contract.ts';
import { allows, INSTANCE_ID, type InstanceChange, MACHINE, nextId, stemOf } from './lifecycle.ts';

/** What may happen in each status, and what comes of it: the whole machine, read the other way round than it is written. */
const MAY: Record<(typeof INSTANCE_STATUSES)[number], Partial<Record<InstanceChange, string>>> = {
  started: { 'review requested': 'waiting_review', 'pull request created': 'pr_created', stopped: 'terminated', abandoned: 'abandoned' },
  waiting_review: { 'review over': 'started', 'pull request created': 'pr_created', stopped: 'terminated', abandoned: 'abandoned' },
  pr_created: { 'pull request merged': 'pr_merged', 'pull request closed': 'pr_closed', abandoned: 'abandoned' },
  pr_closed: { 'pull request merged': 'pr_merged', 'pull request reopened': 'pr_created', abandoned: 'abandoned' },
  pr_merged: {},
  terminated: {},
  abandoned: {},
};

test('the statuses and types are those documented, and each change leads where it should and from nowhere else [review.instance.statuses] [review.instance.types]', () => {
  expect(INSTANCE_STATUSES).toEqual(['started', 'waiting_review', 'pr_created', 'pr_merged', 'pr_closed', 'terminated', 'abandoned']);
  expect(INSTANCE_TYPES).toEqual(['coding', 'review', 'planning']);
  for (const status of INSTANCE_STATUSES) {
    const changes = (Object.keys(MACHINE) as InstanceChange[]).filter((change) => allows(change, status));
    expect([status, Object.fromEntries(changes.map((change) => [change, MACHINE[change].to]))]).toEqual([status, MAY[status]]);
  }
});

test('ids follow the documented pattern, and n counts attempts, past gaps and past nine [review.instance.id-pattern]', () => {
  const stems = [stemOf('coding', 123), stemOf('review', 123), stemOf('planning', 5), stemOf('coding', null), stemOf('review', null)];
  expect(stems.map((stem) => nextId(stem, []))).toEqual(['work-123-a1', 'review-123-a1', 'planning-a1', 'adhoc-a1', 'review-0-a1']);
  expect(nextId('work-1', ['work-1-a1', 'work-1-a9', 'work-1-a10', 'work-12-a40'])).toBe('work-1-a11');
  for (const id of ['work-123-a1', 'review-1-a12', 'planning-a3', 'adhoc-a999999']) expect(id).toMatch(INSTANCE_ID);
  for (const id of [
    'work-123',
    'work-a1',
    'planning-7-a1',
    'adhoc-a0',
    'WORK-1-a1',
    'work-1-a1\n',
    '../work-1-a1',
    'work--1-a1',
    '-work-1-a1',
    'work-1-a1;x',
  ]) {
    expect(id).not.toMatch(INSTANCE_ID);
  }
});

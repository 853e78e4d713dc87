import { expect, test } from 'vitest';
import { INSTANCE_ID, nextId, stemOf } from './names.ts';

test('ids follow the documented pattern, and n counts attempts, even across gaps and beyond nine [review.instance.id-pattern]', () => {
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

import { expect, test } from 'vitest';
import { type DeliveryState, hasState, rankOf, remindableFrom, statusOf, stepsOf } from './delivery.ts';

const NOW = 1_000_000;
const MINUTE = 60_000;
const sent: DeliveryState = {
  kind: 'message',
  sent_at: NOW - 10 * MINUTE,
  recipients: 1,
  delivered: 0,
  delivered_at: null,
  read: 0,
  read_at: null,
  answered_at: null,
  wants_answer: false,
  due_at: null,
  expires_at: null,
  unseen_replies: 0,
};
const got = { delivered: 1, delivered_at: NOW - 5 * MINUTE };
const ask = { kind: 'ask', wants_answer: true, due_at: NOW + MINUTE } as const;
const late = { ...ask, due_at: NOW - 1 };

test.each<[string, Partial<DeliveryState>, string, number]>([
  ['an undelivered message', {}, 'undelivered', 0],
  ['a message sent just now', { sent_at: NOW - MINUTE }, 'sent', 0],
  ['a delivered message', got, 'delivered', 2],
  ['a read message', { ...got, read: 1, read_at: NOW }, 'read', 2],
  ['a broadcast delivered to one of two', { ...got, recipients: 2 }, 'undelivered', 0],
  ['an expired message', { expires_at: NOW }, 'expired', 2],
  ['a delivered query', { ...got, wants_answer: true }, 'waiting', 2],
  ['an undelivered ask', ask, 'undelivered', 0],
  ['a delivered late ask', { ...late, ...got }, 'overdue', 1],
  ['an undelivered late ask', late, 'overdue', 0],
  ['an ask answered late', { ...late, answered_at: NOW }, 'answered', 2],
  ['an undelivered answer', { ...got, wants_answer: true, answered_at: NOW, unseen_replies: 1 }, 'answered', 0],
  ['a question to people', { kind: 'question', wants_answer: true }, 'waiting', 0],
  ['an expired question', { kind: 'question', wants_answer: true, expires_at: NOW - 1 }, 'expired', 2],
  ['a handoff', { kind: 'handoff' }, 'offered', 2],
  ['an accepted handoff', { kind: 'handoff', answered_at: NOW }, 'accepted', 2],
  ['an announcement', { kind: 'announcement' }, 'announced', 2],
])('%s has its status and its rank in the list', (_, change, status, rank) => {
  const delivery = { ...sent, ...change };
  expect([statusOf(delivery, NOW), rankOf(delivery, NOW)]).toEqual([status, rank]);
});

test('untracked receipts are unknown, unexpected ones none, and a broadcast can be partly delivered', () => {
  const states = (change: Partial<DeliveryState>) => stepsOf({ ...sent, ...change }).map(({ state }) => state);
  expect(states({})).toEqual(['done', 'open', 'open', 'none']);
  expect(states({ ...got, recipients: 2 })).toEqual(['done', 'partly', 'open', 'none']);
  expect(states({ ...ask, ...got, read: 1, answered_at: NOW })).toEqual(['done', 'done', 'done', 'done']);
  expect(states({ kind: 'question', wants_answer: true })).toEqual(['done', 'unknown', 'unknown', 'open']);
  expect(states({ kind: 'handoff' })).toEqual(['done', 'unknown', 'unknown', 'open']);
  expect(states({ kind: 'announcement' })).toEqual(['done', 'unknown', 'unknown', 'none']);
});

test('an ask that is undelivered and late has both states until it is answered', () => {
  const delivery = { ...sent, ...late };
  expect((['undelivered', 'overdue', 'unanswered'] as const).map((state) => hasState(state, delivery, NOW))).toEqual([true, true, true]);
  const answered = { ...delivery, answered_at: NOW };
  expect((['undelivered', 'overdue', 'unanswered'] as const).map((state) => hasState(state, answered, NOW))).toEqual([false, false, false]);
});

test('a thread gets no reminder shortly after it was sent or after its last reminder', () => {
  expect(remindableFrom(NOW, null)).toBe(NOW + 2 * MINUTE);
  expect(remindableFrom(NOW, NOW + 5 * MINUTE)).toBe(NOW + 20 * MINUTE);
});

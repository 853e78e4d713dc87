import { expect, test } from 'vitest';
import type { Happening, HappeningKind } from './happenings.ts';
import { spansIn } from './spans.ts';

let seq = 0;
const at = (time: number, kind: HappeningKind, subject: string, payload: Record<string, string> = {}, actor = 'agent:codex@dev_1'): Happening => ({
  seq: ++seq,
  time,
  kind,
  actor,
  subject,
  payload,
});
const spans = (...events: Happening[]) => spansIn(events, 0).map(({ id, from, to, end, reason }) => [id, from, to, end, reason]);

test('a task is held from its start to its end; after a handover, the receiver holds it', () => {
  expect(
    spans(
      at(10, 'task.started', 'task_1', { title: 'Write' }),
      at(20, 'task.handed_over', 'task_1', { title: 'Write' }, 'agent:gemini@dev_2'),
      at(30, 'task.completed', 'task_1', {}, 'agent:gemini@dev_2'),
      at(40, 'task.started', 'task_2'),
      at(50, 'task.cancelled', 'task_2', { reason: 'not needed' }),
    ),
  ).toEqual([
    ['task_1', 10, 20, 'released', 'handed over'],
    ['task_1', 20, 30, 'done', null],
    ['task_2', 40, 50, 'released', 'not needed'],
  ]);
});

test('a step of a silent agent is lost; a released or finished step is not', () => {
  const agent_id = 'ag_1';
  expect(
    spans(
      at(1, 'workflow.task_claimed', 'tk_1', { agent_id }),
      at(2, 'workflow.task_status_changed', 'tk_1', { agent_id, to: 'in_progress' }),
      at(3, 'workflow.task_released', 'tk_1', { agent_id, reason: 'agent silent' }, 'server'),
      at(4, 'workflow.task_claimed', 'tk_1', { agent_id: 'ag_2' }),
      at(5, 'workflow.task_status_changed', 'tk_1', { agent_id: 'ag_2', to: 'failed' }),
      at(6, 'workflow.task_claimed', 'tk_2', { agent_id }),
      at(7, 'workflow.task_released', 'tk_2', { agent_id, reason: 'too hard' }),
      at(8, 'workflow.task_claimed', 'tk_3', { agent_id }),
    ),
  ).toEqual([
    ['tk_1', 1, 3, 'lost', 'agent silent'],
    ['tk_1', 4, 5, 'failed', null],
    ['tk_2', 6, 7, 'released', 'too hard'],
    ['tk_3', 8, null, 'held', null],
  ]);
});

test('an instance whose process ended is lost; an instance that was stopped, delivered or abandoned is not', () => {
  const ended = (id: string, status: string, type = 'coding') => at(9, 'instance.ended', id, { status, type }, 'server');
  const all = spans(
    at(1, 'instance.started', 'work-1-a1', { branch: 'work/1' }),
    ended('work-1-a1', 'terminated'),
    at(2, 'instance.stopped', 'work-2-a1'),
    ended('work-2-a1', 'terminated'),
    ended('work-3-a1', 'pr_merged'),
    ended('work-4-a1', 'abandoned'),
    ended('review-1-a1', 'terminated', 'review'),
  );
  expect(all.map(([id, , , end]) => [id, end])).toEqual([
    ['work-1-a1', 'lost'],
    ['work-2-a1', 'released'],
    ['work-3-a1', 'done'],
    ['work-4-a1', 'failed'],
    ['review-1-a1', 'done'],
  ]);
});

test('work that began before the shown period counts from its start; work that ended before the period is left out', () => {
  const events = [at(5, 'task.completed', 'task_0'), at(20, 'workflow.task_released', 'tk_1', { agent_id: 'ag_1', reason: 'agent silent' })];
  expect(spansIn(events, 10).map(({ id, from, to }) => [id, from, to])).toEqual([['tk_1', 10, 20]]);
});

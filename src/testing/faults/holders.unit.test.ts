import { expect, test } from 'vitest';
import type { JournalEvent } from '../../storage/journal.ts';
import { type FencedWrite, HolderCheck } from './holders.ts';

type EventSketch = [kind: string, payload: Record<string, unknown>, more?: Partial<JournalEvent>];

const DIGEST = 'd'.repeat(64);

function problems(told: readonly EventSketch[], fenced?: ReadonlyMap<string, FencedWrite>): string[] {
  const check = new HolderCheck(fenced);
  for (const [at, [kind, payload, more]] of told.entries()) {
    check.add({ seq: at + 1, category: 'work', kind, actor: 'ana', subject: 'it', session: null, payload, time: at, hash: '', ...more });
  }
  return check.problems;
}

const claimed = (agent_id: string, fence: number): EventSketch => ['workflow.task_claimed', { agent_id, fence }];
const released = (agent_id: string, fence: number): EventSketch => ['workflow.task_released', { agent_id, fence }];
const ended = (agent_id: string, to = 'completed'): EventSketch => ['workflow.task_status_changed', { agent_id, to }];
const paths = (actor: string, id: string, mode = 'exclusive'): EventSketch => ['claim.made', { repo: 'r', paths: ['a.ts'], mode }, { actor, subject: id }];
const turn = (producer: string, target: string): EventSketch => ['cycle.handed_over', { producer, target }];
const started: EventSketch = ['cycle.started', { active_role: 'gemini' }];
const wrote: EventSketch = ['checkpoint_add', { outcome: 'ok', arguments_sha256: DIGEST }, { category: 'usage', subject: null }];
const fenced = new Map([[DIGEST, { task: 'it', agent: 'a', fence: 1 }]]);

test('accepts that steps, paths and turns have several holders one after another', () => {
  expect(problems([claimed('a', 1), wrote, released('a', 2), claimed('b', 3), ended('b'), claimed('a', 4)], fenced)).toEqual([]);
  expect(problems([paths('ana', '1'), ['claim.expired', {}, { subject: '1' }], paths('ben', '2'), ['claim.released', {}, { subject: '2' }]])).toEqual([]);
  expect(problems([paths('ana', '1', 'shared'), paths('ben', '2', 'shared'), ['claim.renewed', {}, { subject: '1' }]])).toEqual([]);
  expect(problems([started, turn('gemini', 'codex'), turn('codex', 'gemini')])).toEqual([]);
});

test.each<[string, EventSketch[]]>([
  ['a step claimed while another agent holds it', [claimed('a', 1), claimed('b', 2)]],
  ['a fence that does not rise', [claimed('a', 1), released('a', 2), claimed('b', 2)]],
  ['a step released by an earlier holder', [claimed('a', 1), released('a', 2), claimed('b', 3), released('a', 4)]],
  ['a step ended by another agent', [claimed('a', 1), ended('b')]],
  ['a write with an old fence', [claimed('a', 1), released('a', 2), claimed('b', 3), wrote]],
  ['a write after the claim has ended', [claimed('a', 1), released('a', 2), wrote]],
  ['paths with two holders', [paths('ana', '1'), paths('ben', '2')]],
  ['paths shared with an exclusive holder', [paths('ana', '1'), paths('ben', '2', 'shared')]],
  ['a lease that ends twice', [paths('ana', '1'), ['claim.expired', {}, { subject: '1' }], ['claim.expired', {}, { subject: '1' }]]],
  ['a lease renewed after its end', [paths('ana', '1'), ['claim.expired', {}, { subject: '1' }], ['claim.renewed', {}, { subject: '1' }]]],
  ['a hand-over out of turn', [started, turn('codex', 'gemini')]],
  [
    'a decreasing time',
    [
      ['x', {}, { time: 5 }],
      ['x', {}, { time: 4 }],
    ],
  ],
])('detects %s', (_, told) => {
  expect(problems(told, fenced).length).toBe(1);
});

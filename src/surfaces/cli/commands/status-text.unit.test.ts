import { expect, test } from 'vitest';
import { columnsOf, fitted } from '../columns.ts';

import { agentLines, type WaitingCommand, waitingCommand, waitingLines, workflowLines } from './status-text.ts';

const TONES = { you: '◆', live: '●', wait: '▲', bad: '✕', quiet: '○' };
const NOW = Date.UTC(2026, 0, 2, 12);
const wide = { columns: Number.POSITIVE_INFINITY, now: NOW };

const question: WaitingCommand = {
  kind: 'question',
  id: 'msg_0000009TX2KD',
  who: 'codex@mira',
  sentence: 'asks: drop the legacy table?',
  since: NOW - 12 * 60_000,
  deadline: null,
  command: 'covenant workflow answer 9TX2KD',
};

type Agents = Parameters<typeof agentLines>[0];
const agent = (name: string, state: Agents['items'][number]['state'], text: string, more: Partial<Agents['items'][number]> = {}) =>
  ({ name, agent_id: name, state, doing: { text, path: null }, last_seen_at: NOW - 8_000, why_blocked: null, ...more }) as Agents['items'][number];
const agents = (...items: Agents['items']) => ({ items, total: items.length, states: {} }) as unknown as Agents;

test('shows each waiting item on one line with its age and its command', () => {
  expect(waitingLines({ items: [question], cut: false }, TONES, wide)).toEqual([
    'Waiting on you 1',
    '  ◆ codex@mira asks: drop the legacy table?  12 m  covenant workflow answer 9TX2KD',
  ]);
  expect(waitingLines({ items: [], cut: false }, TONES, wide)).toEqual(['Waiting on you 0']);
});

test('puts "asks:" before a question, and leaves other sentences unchanged', () => {
  const { sentence: _, ...rest } = question;
  expect(waitingCommand({ ...rest, sentence: 'drop the legacy table?', pressing: true })).toEqual(question);
  const device = { ...question, kind: 'device', sentence: 'asks for tokens for codex' } as const;
  expect(waitingCommand({ ...device, pressing: true })).toEqual(device);
});

test('aligns agents in columns, and ends the line of a blocked agent with the reason', () => {
  const blocked = { why_blocked: { warning_id: 'warn_0000004KQ2ZP', code: 'OVERLAP', outcome: 'blocked' } } as never;
  const seen = new Date(NOW - 9 * 60_000);
  const time = `${String(seen.getHours()).padStart(2, '0')}:${String(seen.getMinutes()).padStart(2, '0')}`;
  const lines = agentLines(
    agents(
      agent('gemini@li', 'lost', 'Migrate schema', { last_seen_at: NOW - 9 * 60_000 }),
      agent('cursor@ana', 'blocked', 'Add login rate limit', blocked),
      agent('claude-code@ana', 'working', 'Rotate session tokens'),
      agent('old@ana', 'quiet', '—'),
    ),
    new Map([['gemini@li', NOW - 9 * 60_000]]),
    TONES,
    wide,
  );
  expect(lines).toEqual([
    'Agents 4',
    `  ✕ gemini@li        lost       Migrate schema         ${time}, claim released ${time}`,
    '  ▲ cursor@ana       blocked    Add login rate limit   8 s  overlap warn_…4KQ2ZP',
    '  ● claude-code@ana  working    Rotate session tokens  8 s',
    '  ○ old@ana          quiet      —                      8 s',
  ]);
});

test('shortens sentences on a narrow terminal, but never commands', () => {
  const narrow = { columns: 80, now: NOW };
  const long = { ...question, sentence: 'asks: 表を落としますか? '.repeat(20) };
  const [, line = ''] = waitingLines({ items: [long], cut: false }, TONES, narrow);
  expect(columnsOf(line)).toBeLessThanOrEqual(80);
  expect(line).toMatch(/… {2}12 m {2}covenant workflow answer 9TX2KD$/);
  for (const shown of agentLines(agents(agent('a@b', 'working', 'x'.repeat(300))), new Map(), TONES, narrow)) expect(columnsOf(shown)).toBeLessThanOrEqual(80);
});

test('prints the text of an agent on one line and without control characters', () => {
  const lines = agentLines(agents(agent('a\u001b[31m@b', 'working', 'one\ntwo\u202Ethree')), new Map(), TONES, wide);
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toMatch(/[\u001b\u202E\n]/);
});

test('ends a long list with the command that shows the whole list', () => {
  const items = Array.from({ length: 25 }, (_, n) => agent(`a${n}@b`, 'working', 'x'));
  expect(agentLines(agents(...items), new Map(), TONES, wide).at(-1)).toBe('  and 5 more: covenant agents list');
});

test('shows the progress of workflows, and puts a single workflow on the line of the heading', () => {
  const flow = (name: string, status: string, by: object) =>
    ({ name, status, by_status: { pending: 0, blocked: 0, planning: 0, in_progress: 0, paused: 0, completed: 0, failed: 0, skipped: 0, ...by } }) as never;
  const one = flow('auth-rework', 'in_progress', { completed: 13, skipped: 1, in_progress: 3, failed: 1, pending: 5 });
  expect(workflowLines({ items: [one], total: 1 }, wide)).toEqual(['Workflows 1  auth-rework 14/23, 3 running, 1 failed']);
  const two = flow('later', 'paused', { pending: 2 });
  expect(workflowLines({ items: [one, two], total: 2 }, wide)).toEqual(['Workflows 2', '  auth-rework 14/23, 3 running, 1 failed', '  later 0/2, paused']);
});

test('measures text in terminal columns', () => {
  expect([columnsOf('abc'), columnsOf('表'), columnsOf('e\u0301'), columnsOf('🙂')]).toEqual([3, 2, 1, 2]);
  expect(fitted('表表表', 5)).toBe('表表…');
  expect(fitted('abc', 3)).toBe('abc');
});

import { expect, test } from 'vitest';
import { type MessageList, threadTable } from './messages.ts';

const NOW = 1_700_000_000_000;
const thread: MessageList['items'][number] = {
  id: 'ask_1',
  kind: 'ask',
  type: null,
  from: { name: 'codex@mira', agent_id: 'codex@dev_1' },
  to: { name: 'ana', agent_id: null },
  recipients: 1,
  subject: 'Which\nport?',
  priority: null,
  repository: null,
  status: 'overdue',
  steps: [],
  sent_at: NOW - 60_000,
  due_at: NOW,
  replies: 0,
  answerable: true,
  remindable: true,
};

test('lists each thread on one line, urgent threads first, with the recipient count of a broadcast and without private text', () => {
  const broadcast: typeof thread = { ...thread, id: 'msg_1', kind: 'message', recipients: 3, subject: null, status: 'read', due_at: null };
  const [, first, second, ...rest] = threadTable({ pressing: [thread], items: [broadcast] }, NOW).split('\n');
  expect(first).toMatch(/^ask_1 +ask +overdue +codex@mira +ana +2023-11-14T22:13 +1 m +Which port\?$/);
  expect(second).toMatch(/^msg_1 +message +read +codex@mira +3 agents +— +1 m +\(private\)$/);
  expect(rest).toEqual([]);
});

import { type AnswerTo, calling } from '../call.ts';
import type { CliCommand } from '../command.ts';
import { age } from '../output.ts';

type Approval = AnswerTo<'approvals.approve'>;

/** Calls of agents that a person has to approve. */
export const approvalCommands: readonly CliCommand[] = [
  calling({
    name: 'approvals list',
    summary: 'Calls that wait for approval; with --status approved, refused, used or lapsed those.',
    options: { status: { type: 'string' } },
    action: 'approvals.list',
    kind: 'approval_list',
    text({ items, cut }, { values: { status = 'waiting' } }) {
      const none = status === 'waiting' ? 'No call waits for approval.' : `No call was ${status === 'lapsed' ? 'left undecided or unused' : status}.`;
      return `${items.map(approvalLines).join('\n\n') || none}${cut ? `\n\n(there are more than these ${items.length})` : ''}`;
    },
  }),
  calling({
    name: 'approvals approve',
    summary: 'Let a call go through that waits for approval.',
    positionals: { ID: 'approval_id' },
    action: 'approvals.approve',
    kind: 'approval_approved',
    text: decided,
  }),
  calling({
    name: 'approvals refuse',
    summary: 'Turn a call away that waits for approval; its caller is told the reason.',
    positionals: { ID: 'approval_id' },
    options: { reason: { type: 'string' } },
    action: 'approvals.refuse',
    kind: 'approval_refused',
    text: decided,
  }),
];

function decided(approval: Approval): string {
  return `${approval.status === 'refused' ? 'Refused' : 'Approved'} ${what(approval)} (${approval.approval_id}).`;
}

const what = ({ noun, name, server }: Approval): string => `${noun} ${name}${server === null || noun === 'resource' ? '' : ` of the server ${server}`}`;

/** In full: whoever approves it must have read it. */
function approvalLines(item: Approval): string {
  const who = item.developer === null ? 'the operator' : item.agent === null ? item.developer : `${item.agent} of ${item.developer}`;
  const cut = item.arguments_cut ? ` … (only the beginning of ${item.arguments_bytes} bytes)` : '';
  const by = item.decided_by === null ? '' : `, by ${item.decided_by} through ${item.decided_through}`;
  return [
    `${item.approval_id}  ${item.status}${by}`,
    `  ${what(item)}, for ${who}, asked ${age(item.requested_at)} ago, until ${new Date(item.deadline_at).toISOString()}`,
    item.arguments === null ? '' : `  arguments: ${item.arguments}${cut}`,
    item.reason === null ? '' : `  reason: ${item.reason}`,
  ]
    .filter(Boolean)
    .join('\n');
}

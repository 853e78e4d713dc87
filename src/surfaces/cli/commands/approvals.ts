import { type AnswerTo, calling } from '../call.ts';
import type { CliCommand } from '../command.ts';
import { age } from '../output.ts';

/** The same list as in the contract. It is repeated here, because importing the contract would load the schema library. A test compares the two lists. */
export const APPROVAL_STATUSES = ['waiting', 'approved', 'refused', 'used', 'lapsed'] as const;

type Approval = AnswerTo<'approvals.approve'>;

export const approvalCommands: readonly CliCommand[] = [
  calling({
    name: 'approvals list',
    summary: 'List the calls that wait for approval.',
    options: {
      status: {
        value: 'STATUS',
        choices: APPROVAL_STATUSES,
        description: 'List the calls with this status. `lapsed` means that nobody decided in time, or that the approval was not used.',
        default: 'waiting',
      },
    },
    examples: ['approvals list', 'approvals list --status refused'],
    action: 'approvals.list',
    kind: 'approval_list',
    text({ items, cut }, { values: { status = 'waiting' } }) {
      const none = status === 'waiting' ? 'No call waits for approval.' : `No call has the status ${status}.`;
      return `${items.map(approvalLines).join('\n\n') || none}${cut ? `\n\n(only the first ${items.length} are listed)` : ''}`;
    },
  }),
  calling({
    name: 'approvals approve',
    summary: 'Approve a call that waits for a person.',
    arguments: [{ name: 'ID', description: 'The approval id, or the last characters of the id.', field: 'approval_id' }],
    examples: ['approvals approve apr_01JABCDEF'],
    action: 'approvals.approve',
    kind: 'approval_approved',
    text: decided,
  }),
  calling({
    name: 'approvals reject',
    formerly: ['approvals refuse'],
    summary: 'Reject a call that waits for a person. The caller gets the reason.',
    arguments: [{ name: 'ID', description: 'The approval id, or the last characters of the id.', field: 'approval_id' }],
    options: { reason: { value: 'TEXT', description: 'The reason. The caller gets this text.' } },
    examples: ['approvals reject apr_01JABCDEF --reason "Use the staging database"'],
    action: 'approvals.refuse',
    kind: 'approval_refused',
    text: decided,
  }),
];

function decided(approval: Approval): string {
  return `${approval.status === 'refused' ? 'Rejected' : 'Approved'} ${what(approval)} (${approval.approval_id}).`;
}

const what = ({ noun, name, server }: Approval): string => `${noun} ${name}${server === null || noun === 'resource' ? '' : ` of the server ${server}`}`;

/** Shows the call in full, so that nobody approves arguments that they have not read. */
function approvalLines(item: Approval): string {
  const who = item.developer === null ? 'the operator' : item.agent === null ? item.developer : `${item.agent} of ${item.developer}`;
  const cut = item.arguments_cut ? ` … (the beginning of ${item.arguments_bytes} bytes)` : '';
  const by = item.decided_by === null ? '' : `, by ${item.decided_by} through ${item.decided_through}`;
  return [
    `${item.approval_id}  ${item.status}${by}`,
    `  ${what(item)}, requested by ${who} ${age(item.requested_at)} ago, expires ${new Date(item.deadline_at).toISOString()}`,
    item.arguments === null ? '' : `  arguments: ${item.arguments}${cut}`,
    item.reason === null ? '' : `  reason: ${item.reason}`,
  ]
    .filter(Boolean)
    .join('\n');
}

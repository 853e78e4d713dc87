import type { approveCall, listApprovals } from '../../../features/core/approvals/contract.ts';
import type { Output } from '../../../kernel/contract.ts';
import { type CliCommand, type CommandResult, given, type Invocation } from '../command.ts';
import { age } from '../output.ts';

type Approval = Output<typeof approveCall>;

/** Calls of agents that a person has to approve. */
export const approvalCommands: readonly CliCommand[] = [
  {
    name: 'approvals list',
    summary: 'Calls that wait for approval; with --status approved, refused, used or lapsed those.',
    options: { status: { type: 'string' } },
    async run(invocation) {
      const { items, cut } = (await (await invocation.client()).action('approvals.list', given(invocation, 'status'))) as unknown as Output<
        typeof listApprovals
      >;
      const { status = 'waiting' } = invocation.values;
      const none = status === 'waiting' ? 'No call waits for approval.' : `No call was ${status === 'lapsed' ? 'left undecided or unused' : status}.`;
      const text = items.map((item) => lines(item, Date.now())).join('\n\n') || none;
      return { json: { kind: 'approval_list', items, cut }, text: `${text}${cut ? `\n\n(there are more than these ${items.length})` : ''}` };
    },
  },
  {
    name: 'approvals approve',
    summary: 'Let a call go through that waits for approval.',
    positionals: ['ID'],
    run: (invocation) => decide(invocation, 'approvals.approve', 'approval_approved'),
  },
  {
    name: 'approvals refuse',
    summary: 'Turn a call away that waits for approval; its caller is told the reason.',
    positionals: ['ID'],
    options: { reason: { type: 'string' } },
    run: (invocation) => decide(invocation, 'approvals.refuse', 'approval_refused'),
  },
];

async function decide(invocation: Invocation, action: string, kind: string): Promise<CommandResult> {
  const input = { approval_id: invocation.positionals[0], ...given(invocation, 'reason') };
  const approval = (await (await invocation.client()).action(action, input)) as unknown as Approval;
  return { json: { kind, ...approval }, text: `${approval.status === 'refused' ? 'Refused' : 'Approved'} ${what(approval)} (${approval.approval_id}).` };
}

const what = ({ noun, name, server }: Approval): string => `${noun} ${name}${server === null || noun === 'resource' ? '' : ` of the server ${server}`}`;

/** In full: whoever approves it must have read it. */
function lines(item: Approval, now: number): string {
  const who = item.developer === null ? 'the operator' : item.agent === null ? item.developer : `${item.agent} of ${item.developer}`;
  const cut = item.arguments_cut ? ` … (only the beginning of ${item.arguments_bytes} bytes)` : '';
  const decided = item.decided_by === null ? '' : `, by ${item.decided_by} through ${item.decided_through}`;
  return [
    `${item.approval_id}  ${item.status}${decided}`,
    `  ${what(item)}, for ${who}, asked ${age(item.requested_at, now)} ago, until ${new Date(item.deadline_at).toISOString()}`,
    item.arguments === null ? '' : `  arguments: ${item.arguments}${cut}`,
    item.reason === null ? '' : `  reason: ${item.reason}`,
  ]
    .filter(Boolean)
    .join('\n');
}

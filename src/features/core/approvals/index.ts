import type { Services } from '../../../kernel/call.ts';
import type { Ports } from '../../../kernel/ports.ts';
import type { Feature } from '../../../kernel/tool.ts';
import { type ApprovalParts, createHold } from './hold.ts';
import { approvalSweep } from './lifecycle.ts';
import { createRounds, ROUND_MS } from './rounds.ts';
import { approvalTools } from './tools.ts';

export { readApprovals } from './tools.ts';

export function createApprovals(services: Services, parts: ApprovalParts): { feature: Feature; ports: Pick<Ports, 'hold' | 'suspend' | 'resume'> } {
  return {
    feature: {
      name: 'approvals',
      implementations: approvalTools(parts.deadlineMs),
      keeps: [
        { what: "Decided approvals (the call's arguments are deleted at the decision)", ms: 'retention.days' },
        { what: 'Calls waiting for their next round', ms: ROUND_MS },
      ],
      sweeps: [approvalSweep(services)],
    },
    ports: { hold: createHold(services, parts), ...createRounds(services) },
  };
}

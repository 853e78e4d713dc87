import type { House } from '../../kernel/context.ts';
import type { Ports } from '../../kernel/ports.ts';
import type { Feature } from '../../kernel/tool.ts';
import { approvalSweep } from './expiry.ts';
import { type ApprovalParts, createHold } from './hold.ts';
import { createRounds } from './rounds.ts';
import { approvalTools } from './tools.ts';

export function createApprovals(house: House, parts: ApprovalParts): { feature: Feature; ports: Pick<Ports, 'hold' | 'suspend' | 'resume'> } {
  return {
    feature: { name: 'approvals', implementations: approvalTools(parts.deadlineMs), sweeps: [approvalSweep(house)] },
    ports: { hold: createHold(house, parts), ...createRounds(house) },
  };
}

import type { Implementation } from '../../../kernel/tool.ts';
import { announcementTools } from './announcements.ts';
import { askTools } from './asks.ts';
import { type ClaimListener, claimTools } from './claims.ts';
import { type HandoffPorts, handoffTools } from './handoffs.ts';
import { listTools } from './lists.ts';
import { summaryTool } from './summary.ts';

/** What coordination needs of the features that keep the work. */
export interface CoordinationPorts extends HandoffPorts {
  readonly onClaim: ClaimListener;
}

export const coordinationTools = (ports: CoordinationPorts): Implementation[] => [
  ...announcementTools,
  ...claimTools(ports.onClaim),
  ...askTools,
  ...handoffTools(ports),
  ...listTools,
  summaryTool,
];

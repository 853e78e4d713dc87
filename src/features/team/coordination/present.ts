import type { Principal } from '../../../kernel/call.ts';
import type { Db } from '../../../storage/engine.ts';
import { view } from '../../../storage/rows.ts';
import type { AnnouncementRow, AskRow, ClaimRow, HandoffRow } from '../../../storage/schema-rows.ts';
import { type Viewer, viewerOf } from '../../core/identity/index.ts';
import { type AnnouncementView, type AskView, announcementView, askView, type ClaimView, claimView, type HandoffView, handoffView } from './contract.ts';

/** Converts rows to what one viewer may see of them. */
export interface Presenter extends Viewer {
  claim(row: ClaimRow): ClaimView;
  ask(row: AskRow): AskView;
  handoff(row: HandoffRow): HandoffView;
  announcement(row: AnnouncementRow): AnnouncementView;
}

export async function viewsFor(db: Db, principal: Principal, now: number): Promise<Presenter> {
  const viewer = await viewerOf(db, principal);
  const { name } = viewer;
  // Other people must not see which types of agents a private developer uses.
  const agentType = (developerId: string, type: string | null) => (viewer.sees(developerId) ? type : null);
  return {
    ...viewer,
    claim: (row) =>
      view(claimView, row, {
        claim_id: row.id,
        developer: name(row.developer_id),
        agent_type: agentType(row.developer_id, row.agent_type),
        own: row.developer_id === viewer.developerId,
        claimed_at: row.created_at,
      }),
    ask: (row) =>
      view(askView, row, {
        ask_id: row.id,
        from: name(row.from_developer_id),
        to: name(row.to_developer_id),
        to_agent_type: agentType(row.to_developer_id, row.to_agent_type),
        receipt: receiptOf(row),
        sent_at: row.created_at,
        undelivered: isUndelivered(row),
        overdue: isOverdue(row, now),
      }),
    handoff: (row) =>
      view(handoffView, row, {
        handoff_id: row.id,
        from: name(row.from_developer_id),
        to: name(row.to_developer_id),
        to_agent_type: agentType(row.to_developer_id, row.to_agent_type),
        offered_at: row.created_at,
      }),
    announcement: (row) => view(announcementView, row, { announcement_id: row.id, developer: name(row.developer_id), announced_at: row.created_at }),
  };
}

/** The progress of an ask. `delivered`: a reply to the recipient contained the ask. `read`: a list showed the whole ask to the recipient. */
function receiptOf(ask: Pick<AskRow, 'delivered_at' | 'read_at' | 'answered_at'>): AskView['receipt'] {
  if (ask.answered_at !== null) return 'answered';
  if (ask.read_at !== null) return 'read';
  return ask.delivered_at !== null ? 'delivered' : 'sent';
}

export const isUndelivered = (ask: Pick<AskRow, 'delivered_at'>): boolean => ask.delivered_at === null;

export const isOverdue = (ask: Pick<AskRow, 'answered_at' | 'due_at'>, now: number): boolean => ask.answered_at === null && now > ask.due_at;

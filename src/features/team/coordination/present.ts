import type { Principal } from '../../../kernel/context.ts';
import type { Db } from '../../../storage/engine.ts';
import type { AnnouncementRow, AskRow, ClaimRow, HandoffRow } from '../../../storage/schema-rows.ts';
import { namesFor, PRIVATE } from '../../core/identity/index.ts';
import type { Claimed } from './conflicts.ts';
import { isOverdue, isUndelivered, receiptOf } from './receipts.ts';
import { readStrings } from './store.ts';
import type { AnnouncementView, AskView, ClaimView, HandoffView } from './views.ts';

/** Rows as one viewer may see them. */
export interface Presenter {
  name(developerId: string): string;
  claim(row: ClaimRow): ClaimView;
  ask(row: AskRow): AskView;
  handoff(row: HandoffRow): HandoffView;
  announcement(row: AnnouncementRow): AnnouncementView;
}

export async function viewsFor(db: Db, workspace: string, viewer: Principal, now: number): Promise<Presenter> {
  const name = await namesFor(db, workspace, viewer);
  // Which agents a private developer runs is theirs to tell.
  const agentType = (developerId: string, type: string | null) => (name(developerId) === PRIVATE ? null : type);
  return {
    name,
    claim: (row) => ({
      claim_id: row.id,
      developer: name(row.developer_id),
      agent_type: agentType(row.developer_id, row.agent_type),
      own: row.developer_id === viewer.developerId,
      repo: row.repo,
      paths: readStrings(row.paths),
      symbols: readStrings(row.symbols),
      mode: row.mode,
      reason: row.reason,
      claimed_at: row.created_at,
      expires_at: row.expires_at,
    }),
    ask: (row) => ({
      ask_id: row.id,
      from: name(row.from_developer_id),
      to: name(row.to_developer_id),
      to_agent_type: agentType(row.to_developer_id, row.to_agent_type),
      message: row.message,
      repo: row.repo,
      paths: readStrings(row.paths),
      receipt: receiptOf(row),
      sent_at: row.created_at,
      delivered_at: row.delivered_at,
      read_at: row.read_at,
      answered_at: row.answered_at,
      due_at: row.due_at,
      undelivered: isUndelivered(row),
      overdue: isOverdue(row, now),
      answer: row.answer,
      answer_delivered_at: row.answer_delivered_at,
    }),
    handoff: (row) => ({
      handoff_id: row.id,
      from: name(row.from_developer_id),
      to: name(row.to_developer_id),
      to_agent_type: agentType(row.to_developer_id, row.to_agent_type),
      message: row.message,
      status: row.status,
      task_ids: readStrings(row.task_ids),
      claim_ids: readStrings(row.claim_ids),
      repo: row.repo,
      branch: row.branch,
      context_id: row.context_id,
      offered_at: row.created_at,
      accepted_at: row.accepted_at,
    }),
    announcement: (row) => ({
      announcement_id: row.id,
      developer: name(row.developer_id),
      message: row.message,
      repo: row.repo,
      paths: readStrings(row.paths),
      announced_at: row.created_at,
    }),
  };
}

/** A row as the rules on conflicts see it. */
export const claimedBy = (row: ClaimRow): Claimed => ({
  actor: row.actor,
  sessionId: row.session_id,
  repo: row.repo,
  paths: readStrings(row.paths),
  symbols: readStrings(row.symbols),
  mode: row.mode,
});

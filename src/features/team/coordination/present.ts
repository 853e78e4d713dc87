import type { Principal } from '../../../kernel/call.ts';
import { bytesOf, excerpt } from '../../../kernel/excerpt.ts';
import type { Db } from '../../../storage/engine.ts';
import { view } from '../../../storage/rows.ts';
import type { AnnouncementRow, AskRow, ClaimRow, HandoffRow } from '../../../storage/schema-rows.ts';
import { type Viewer, viewerOf } from '../../core/identity/index.ts';
import type { Claimed } from './conflicts.ts';
import { type AnnouncementView, type AskView, announcementView, askView, type ClaimView, claimView, type HandoffView, handoffView } from './contract.ts';
import { readStrings } from './store.ts';

/** Rows as one viewer may see them. */
export interface Presenter extends Viewer {
  claim(row: ClaimRow): ClaimView;
  ask(row: AskRow): AskView;
  handoff(row: HandoffRow): HandoffView;
  announcement(row: AnnouncementRow): AnnouncementView;
}

export async function viewsFor(db: Db, principal: Principal, now: number): Promise<Presenter> {
  const viewer = await viewerOf(db, principal);
  const { name } = viewer;
  // Which agents a private developer runs is theirs to tell.
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

/** A row as the rules on conflicts see it. */
export const claimedBy = (row: ClaimRow): Claimed => ({
  actor: row.actor,
  sessionId: row.session_id,
  repo: row.repo,
  paths: readStrings(row.paths),
  symbols: readStrings(row.symbols),
  mode: row.mode,
});

/** What a payload of the journal may hold of each part, so that all of them together are kept and not replaced by a digest. */
const MESSAGE_BYTES = 2_000;
const PATHS_BYTES = 1_500;
const SYMBOLS_BYTES = 1_000;
const NAME_BYTES = 500;

/** The first of a list that fit. */
function firstOf(list: readonly string[], maxBytes: number): string[] {
  let room = maxBytes;
  return list.filter((item) => (room -= bytesOf(item) + 3) >= 0);
}

interface Details {
  message?: string | null;
  reason?: string | null;
  answer?: string | null;
  repo?: string | null;
  branch?: string | null;
  paths?: readonly string[];
  symbols?: readonly string[];
}

/** Those parts of a work event that callers write, cut to what the journal keeps; what was left out is counted. */
export function boundedDetails({ message, reason, answer, repo, branch, paths = [], symbols = [] }: Details): Record<string, unknown> {
  const cut = (text: string | null | undefined, bytes: number) => (text == null ? undefined : excerpt(text, bytes));
  const shown = { paths: firstOf(paths, PATHS_BYTES), symbols: firstOf(symbols, SYMBOLS_BYTES) };
  const omitted = (all: readonly string[], some: readonly string[]) => (all.length > some.length ? all.length - some.length : undefined);
  return {
    message: cut(message, MESSAGE_BYTES),
    answer: cut(answer, MESSAGE_BYTES),
    reason: cut(reason, NAME_BYTES),
    repo: cut(repo, NAME_BYTES),
    branch: cut(branch, NAME_BYTES),
    paths: paths.length > 0 ? shown.paths : undefined,
    paths_omitted: omitted(paths, shown.paths),
    symbols: symbols.length > 0 ? shown.symbols : undefined,
    symbols_omitted: omitted(symbols, shown.symbols),
  };
}

/** How far an ask has come. Delivered: carried in an answer to the addressee. Read: listed there in full. */
function receiptOf(ask: Pick<AskRow, 'delivered_at' | 'read_at' | 'answered_at'>): AskView['receipt'] {
  if (ask.answered_at !== null) return 'answered';
  if (ask.read_at !== null) return 'read';
  return ask.delivered_at !== null ? 'delivered' : 'sent';
}

export const isUndelivered = (ask: Pick<AskRow, 'delivered_at'>): boolean => ask.delivered_at === null;

export const isOverdue = (ask: Pick<AskRow, 'answered_at' | 'due_at'>, now: number): boolean => ask.answered_at === null && now > ask.due_at;

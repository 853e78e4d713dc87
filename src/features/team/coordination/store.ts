import { z } from 'zod';
import { findBySuffix } from '../../../kernel/find-by-suffix.ts';
import { calledRepository } from '../../../kernel/like.ts';
import type { Db } from '../../../storage/engine.ts';
import { countRows, findRow, findRows, type JsonText, matching, readJson } from '../../../storage/rows.ts';
import type { AnnouncementRow, AskRow, ClaimRow, Database, HandoffRow } from '../../../storage/schema-rows.ts';
import type { Claimed } from './conflicts.ts';

const strings = z.array(z.string());
export const readStrings = (text: JsonText): string[] => readJson(strings, text);

/** An ask disappears from the lists this long after its due time. */
export const ASK_MEMORY_MS = 7 * 86_400_000;

export const claimNamed = (db: Db, workspace: string, tail: string): Promise<ClaimRow> =>
  findBySuffix(matching(db, 'claims', { workspace_id: workspace }).selectAll(), tail, 'claim');

/** Selects the claims that are neither released nor recorded as expired. */
const UNENDED = { released_at: null, expired_at: null } as const;

/** Live claims of all developers or of one, oldest first. No page size is needed, because the number of claims per developer is limited. */
export const liveClaimRows = (db: Db, workspace: string, now: number, developerId?: string): Promise<ClaimRow[]> =>
  findRows(db, 'claims', { ...UNENDED, workspace_id: workspace, developer_id: developerId, expires_at: { '>': now } }, { order: { id: 'asc' } });

/** Converts a row to the form that the conflict rules expect. */
export const claimedBy = (row: ClaimRow): Claimed => ({
  actor: row.actor,
  sessionId: row.session_id,
  repo: row.repo,
  paths: readStrings(row.paths),
  symbols: readStrings(row.symbols),
  mode: row.mode,
});

interface ClaimPage {
  readonly developerId?: string | undefined;
  /** Name of the repository in any form that people use for it. */
  readonly repository?: string | undefined;
  /** Only claims older than this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Live claims, newest first, and their total number. */
export async function pageOfClaims(db: Db, workspace: string, now: number, page: ClaimPage): Promise<{ rows: ClaimRow[]; total: number }> {
  const { developerId, repository, before, limit } = page;
  let live = matching(db, 'claims', { ...UNENDED, workspace_id: workspace, developer_id: developerId, expires_at: { '>': now } });
  if (repository) live = live.where(calledRepository('repo', repository));
  const rows = before ? live.where('id', '<', before) : live;
  const { total } = await live.select((eb) => eb.fn.countAll<string | number>().as('total')).executeTakeFirstOrThrow();
  return { rows: await rows.selectAll().orderBy('id', 'desc').limit(limit).execute(), total: Number(total) };
}

/** Claims of all workspaces whose lease has ended although no event records the end yet. */
export const expiredClaims = (db: Db, now: number, limit: number): Promise<Pick<ClaimRow, 'workspace_id' | 'id'>[]> =>
  findRows(db, 'claims', { ...UNENDED, expires_at: { '<=': now } }, { order: { expires_at: 'asc' }, limit });

export async function expiredClaimsIn(db: Db, workspace: string, now: number): Promise<string[]> {
  const rows = await findRows(db, 'claims', { ...UNENDED, workspace_id: workspace, expires_at: { '<=': now } });
  return rows.map(({ id }) => id);
}

/** Returns undefined if the claim was already marked. If several servers sweep at the same time, only one of them then writes the event. */
export async function markExpired(db: Db, workspace: string, id: string, now: number): Promise<ClaimRow | undefined> {
  return await db
    .updateTable('claims')
    .set({ expired_at: now })
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .where('released_at', 'is', null)
    .where('expired_at', 'is', null)
    .where('expires_at', '<=', now)
    .returningAll()
    .executeTakeFirst();
}

export const announcementsSince = (db: Db, workspace: string, since: number, limit: number): Promise<AnnouncementRow[]> =>
  findRows(db, 'announcements', { workspace_id: workspace, created_at: { '>': since } }, { order: { created_at: 'desc', id: 'desc' }, limit });

export const countAnnouncements = (db: Db, workspace: string, since: number): Promise<number> =>
  countRows(db, 'announcements', { workspace_id: workspace, created_at: { '>': since } });

export const findAsk = (db: Db, workspace: string, id: string): Promise<AskRow | undefined> => findRow(db, 'asks', { workspace_id: workspace, id });

const asks = (db: Db, workspace: string, now: number) => matching(db, 'asks', { workspace_id: workspace, due_at: { '>': now - ASK_MEMORY_MS } });

/** Unanswered asks to all agents of the developer or to agents of this type. */
const waitingAsks = (db: Db, workspace: string, developerId: string, agentType: string | null, now: number) =>
  asks(db, workspace, now)
    .selectAll()
    .where('to_developer_id', '=', developerId)
    .where((eb) => (agentType === null ? eb('to_agent_type', 'is', null) : eb.or([eb('to_agent_type', 'is', null), eb('to_agent_type', '=', agentType)])))
    .where('answered_at', 'is', null);

/** The unanswered asks that an agent may answer, most urgent first. */
export const asksTo = (db: Db, workspace: string, developerId: string, agentType: string | null, now: number, limit: number): Promise<AskRow[]> =>
  waitingAsks(db, workspace, developerId, agentType, now).orderBy('due_at').orderBy('id').limit(limit).execute();

/** Sorts undelivered asks first, so that a few unanswered ones do not fill every reply. Among the rest, the most urgent ask comes first. */
export const asksToDeliver = (db: Db, workspace: string, developerId: string, agentType: string | null, now: number, limit: number): Promise<AskRow[]> =>
  waitingAsks(db, workspace, developerId, agentType, now)
    .orderBy((eb) => eb('delivered_at', 'is not', null))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit)
    .execute();

export const asksBy = (db: Db, workspace: string, developerId: string, now: number, limit: number): Promise<AskRow[]> =>
  asks(db, workspace, now).selectAll().where('from_developer_id', '=', developerId).orderBy('id', 'desc').limit(limit).execute();

/** Answers that the agent that asked has not received yet. */
export const freshAnswers = (db: Db, workspace: string, developerId: string, actor: string, limit: number): Promise<AskRow[]> =>
  findRows(
    db,
    'asks',
    { workspace_id: workspace, from_developer_id: developerId, from_actor: actor, answered_at: { '!=': null }, answer_delivered_at: null },
    { order: { answered_at: 'asc' }, limit },
  );

export const openAsks = (db: Db, workspace: string, now: number, limit: number): Promise<AskRow[]> =>
  asks(db, workspace, now).selectAll().where('answered_at', 'is', null).orderBy('due_at').orderBy('id').limit(limit).execute();

export async function countOpenAsks(db: Db, workspace: string, now: number): Promise<{ waiting: number; overdue: number; undelivered: number }> {
  const { waiting, in_time, delivered } = await asks(db, workspace, now)
    .select((eb) => [
      eb.fn.countAll<string | number>().as('waiting'),
      eb.fn.count<string | number>(eb.case().when('due_at', '>=', now).then(1).end()).as('in_time'),
      eb.fn.count<string | number>('delivered_at').as('delivered'),
    ])
    .where('answered_at', 'is', null)
    .executeTakeFirstOrThrow();
  return { waiting: Number(waiting), overdue: Number(waiting) - Number(in_time), undelivered: Number(waiting) - Number(delivered) };
}

export const recentAsks = (db: Db, workspace: string, now: number, limit: number): Promise<AskRow[]> =>
  asks(db, workspace, now).selectAll().orderBy('id', 'desc').limit(limit).execute();

export const findHandoff = (db: Db, workspace: string, id: string): Promise<HandoffRow | undefined> => findRow(db, 'handoffs', { workspace_id: workspace, id });

const OFFERED_LAST = { created_at: 'desc', id: 'desc' } as const;

const offeredTo = (db: Db, workspace: string, developerId: string, agentType: string | null) =>
  matching(db, 'handoffs', { workspace_id: workspace, status: 'offered', to_developer_id: developerId })
    .selectAll()
    .where((eb) => (agentType === null ? eb('to_agent_type', 'is', null) : eb.or([eb('to_agent_type', 'is', null), eb('to_agent_type', '=', agentType)])));

export const handoffsTo = (db: Db, workspace: string, developerId: string, agentType: string | null, limit: number): Promise<HandoffRow[]> =>
  offeredTo(db, workspace, developerId, agentType).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();

/** Which handoffs a reader has already seen. */
export interface HandoffMark {
  /** Id of the newest handoff that the reader has seen. */
  readonly seenUpTo: string;
  /** If true, only handoffs that the reader has not seen are returned. */
  readonly onlyUnseen: boolean;
}

/** Returns unseen handoffs before seen ones, and in both groups the oldest first. A reader that shows them in this order misses none. */
export async function unseenHandoffsTo(
  db: Db,
  workspace: string,
  developerId: string,
  agentType: string | null,
  { seenUpTo, onlyUnseen }: HandoffMark,
  limit: number,
): Promise<HandoffRow[]> {
  const all = offeredTo(db, workspace, developerId, agentType);
  const rows = await all
    .orderBy((eb) => eb('id', '<=', seenUpTo))
    .orderBy('id')
    .limit(limit)
    .execute();
  // This condition is not in the query, because SQLite would then read all newer handoffs of every recipient.
  return onlyUnseen ? rows.filter(({ id }) => id > seenUpTo) : rows;
}

export const handoffsBy = (db: Db, workspace: string, developerId: string, limit: number): Promise<HandoffRow[]> =>
  findRows(db, 'handoffs', { workspace_id: workspace, status: 'offered', from_developer_id: developerId }, { order: OFFERED_LAST, limit });

export const openHandoffs = (db: Db, workspace: string, limit: number): Promise<HandoffRow[]> =>
  findRows(db, 'handoffs', { workspace_id: workspace, status: 'offered' }, { order: OFFERED_LAST, limit });

/** A page of a list, newest first. The page contains only ids below `before`, which are older, because ids increase with time. */
export interface Slice {
  readonly before: string | undefined;
  readonly limit: number;
}

/** Returns open and closed rows of all developers. */
const slice = <T extends 'asks' | 'handoffs' | 'announcements'>(db: Db, table: T, workspace: string, { before, limit }: Slice): Promise<Database[T][]> =>
  findRows(db, table as 'asks', { workspace_id: workspace, id: before && { '<': before } }, { order: { id: 'desc' }, limit }) as unknown as Promise<
    Database[T][]
  >;
export const askSlice = (db: Db, workspace: string, page: Slice) => slice(db, 'asks', workspace, page);
export const handoffSlice = (db: Db, workspace: string, page: Slice) => slice(db, 'handoffs', workspace, page);
export const announcementSlice = (db: Db, workspace: string, page: Slice) => slice(db, 'announcements', workspace, page);

export const findAnnouncement = (db: Db, workspace: string, id: string): Promise<AnnouncementRow | undefined> =>
  findRow(db, 'announcements', { workspace_id: workspace, id });

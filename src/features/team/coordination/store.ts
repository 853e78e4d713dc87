import { z } from 'zod';
import { calledRepository, endingIn, onlyMatch } from '../../../kernel/tail.ts';
import { type JsonText, readJson } from '../../../storage/columns.ts';
import type { Db } from '../../../storage/engine.ts';
import type { AnnouncementRow, AskRow, ClaimRow, HandoffRow } from '../../../storage/schema-rows.ts';

const strings = z.array(z.string());
export const readStrings = (text: JsonText): string[] => readJson(strings, text);

/** An ask that nobody answered in this time after it was due no longer waits for anybody. */
export const ASK_MEMORY_MS = 7 * 86_400_000;

export async function insertClaim(db: Db, claim: ClaimRow): Promise<void> {
  await db.insertInto('claims').values(claim).execute();
}

export async function findClaim(db: Db, workspace: string, id: string): Promise<ClaimRow | undefined> {
  return await db.selectFrom('claims').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function claimNamed(db: Db, workspace: string, tail: string): Promise<ClaimRow> {
  const exact = await findClaim(db, workspace, tail);
  if (exact) return exact;
  const found = await endingIn(db.selectFrom('claims').selectAll().where('workspace_id', '=', workspace), tail);
  const id = onlyMatch(
    found.map((row) => row.id),
    tail,
    'claim',
  );
  return found.find((row) => row.id === id) as ClaimRow;
}

export async function updateClaim(db: Db, workspace: string, id: string, change: Partial<Omit<ClaimRow, 'workspace_id' | 'id'>>): Promise<void> {
  await db.updateTable('claims').set(change).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

export async function renewLeases(db: Db, workspace: string, ids: readonly string[], expires_at: number): Promise<void> {
  await db.updateTable('claims').set({ expires_at }).where('workspace_id', '=', workspace).where('id', 'in', ids).execute();
}

/** Oldest first, of everybody or of one developer. The number is bounded by what each developer may hold. */
export async function liveClaimRows(db: Db, workspace: string, now: number, developerId?: string): Promise<ClaimRow[]> {
  return await db
    .selectFrom('claims')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('released_at', 'is', null)
    .where('expired_at', 'is', null)
    .where('expires_at', '>', now)
    .$if(developerId !== undefined, (query) => query.where('developer_id', '=', developerId as string))
    .orderBy('id')
    .execute();
}

interface ClaimPage {
  readonly developerId?: string | undefined;
  /** What people call it. */
  readonly repository?: string | undefined;
  /** Those before this one. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Live ones, newest first, and how many there are in all. */
export async function pageOfClaims(db: Db, workspace: string, now: number, page: ClaimPage): Promise<{ rows: ClaimRow[]; total: number }> {
  const { developerId, repository, before, limit } = page;
  let live = db
    .selectFrom('claims')
    .where('workspace_id', '=', workspace)
    .where('released_at', 'is', null)
    .where('expired_at', 'is', null)
    .where('expires_at', '>', now);
  if (developerId) live = live.where('developer_id', '=', developerId);
  if (repository) live = live.where(calledRepository('repo', repository));
  const rows = before ? live.where('id', '<', before) : live;
  const { total } = await live.select((eb) => eb.fn.countAll<string | number>().as('total')).executeTakeFirstOrThrow();
  return { rows: await rows.selectAll().orderBy('id', 'desc').limit(limit).execute(), total: Number(total) };
}

/** Leases of any workspace that have ended without anybody having noted it. */
export async function lapsedClaims(db: Db, now: number, limit: number): Promise<Pick<ClaimRow, 'workspace_id' | 'id'>[]> {
  return await db
    .selectFrom('claims')
    .select(['workspace_id', 'id'])
    .where('released_at', 'is', null)
    .where('expired_at', 'is', null)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

export async function lapsedClaimsIn(db: Db, workspace: string, now: number): Promise<string[]> {
  const rows = await db
    .selectFrom('claims')
    .select('id')
    .where('workspace_id', '=', workspace)
    .where('released_at', 'is', null)
    .where('expired_at', 'is', null)
    .where('expires_at', '<=', now)
    .execute();
  return rows.map(({ id }) => id);
}

/** Takes the noting of it, if nobody has: of several servers that sweep, one writes the event. */
export async function noteExpiry(db: Db, workspace: string, id: string, now: number): Promise<ClaimRow | undefined> {
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

export async function insertAnnouncement(db: Db, announcement: AnnouncementRow): Promise<void> {
  await db.insertInto('announcements').values(announcement).execute();
}

export async function announcementsSince(db: Db, workspace: string, since: number, limit: number): Promise<AnnouncementRow[]> {
  return await db
    .selectFrom('announcements')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('created_at', '>', since)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function insertAsk(db: Db, ask: AskRow): Promise<void> {
  await db.insertInto('asks').values(ask).execute();
}

export async function findAsk(db: Db, workspace: string, id: string): Promise<AskRow | undefined> {
  return await db.selectFrom('asks').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function updateAsk(db: Db, workspace: string, id: string, change: Partial<Omit<AskRow, 'workspace_id' | 'id'>>): Promise<void> {
  await db.updateTable('asks').set(change).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

const asks = (db: Db, workspace: string, now: number) =>
  db
    .selectFrom('asks')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('due_at', '>', now - ASK_MEMORY_MS);

/** Unanswered ones, to all agents of the developer or to those of this type: for no other agent. */
const waitingAsks = (db: Db, workspace: string, developerId: string, agentType: string | null, now: number) =>
  asks(db, workspace, now)
    .where('to_developer_id', '=', developerId)
    .where((eb) => (agentType === null ? eb('to_agent_type', 'is', null) : eb.or([eb('to_agent_type', 'is', null), eb('to_agent_type', '=', agentType)])))
    .where('answered_at', 'is', null);

/** The most urgent first. */
export async function asksTo(db: Db, workspace: string, developerId: string, agentType: string | null, now: number, limit: number): Promise<AskRow[]> {
  return await waitingAsks(db, workspace, developerId, agentType, now).orderBy('due_at').orderBy('id').limit(limit).execute();
}

/** What was never delivered first, or a few asks left unanswered would keep all others back; then the most urgent. */
export async function asksToDeliver(db: Db, workspace: string, developerId: string, agentType: string | null, now: number, limit: number): Promise<AskRow[]> {
  return await waitingAsks(db, workspace, developerId, agentType, now)
    .orderBy((eb) => eb('delivered_at', 'is not', null))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function asksBy(db: Db, workspace: string, developerId: string, now: number, limit: number): Promise<AskRow[]> {
  return await asks(db, workspace, now).where('from_developer_id', '=', developerId).orderBy('id', 'desc').limit(limit).execute();
}

/** Answers that nobody who asked under this name has been given. */
export async function freshAnswers(db: Db, workspace: string, developerId: string, actor: string, limit: number): Promise<AskRow[]> {
  return await db
    .selectFrom('asks')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('from_developer_id', '=', developerId)
    .where('from_actor', '=', actor)
    .where('answered_at', 'is not', null)
    .where('answer_delivered_at', 'is', null)
    .orderBy('answered_at')
    .limit(limit)
    .execute();
}

export async function countAnnouncements(db: Db, workspace: string, since: number): Promise<number> {
  const { count } = await db
    .selectFrom('announcements')
    .select((eb) => eb.fn.countAll<string | number>().as('count'))
    .where('workspace_id', '=', workspace)
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function openAsks(db: Db, workspace: string, now: number, limit: number): Promise<AskRow[]> {
  return await asks(db, workspace, now).where('answered_at', 'is', null).orderBy('due_at').orderBy('id').limit(limit).execute();
}

export async function countOpenAsks(db: Db, workspace: string, now: number): Promise<{ waiting: number; overdue: number; undelivered: number }> {
  const { waiting, in_time, delivered } = await db
    .selectFrom('asks')
    .select((eb) => [
      eb.fn.countAll<string | number>().as('waiting'),
      eb.fn.count<string | number>(eb.case().when('due_at', '>=', now).then(1).end()).as('in_time'),
      eb.fn.count<string | number>('delivered_at').as('delivered'),
    ])
    .where('workspace_id', '=', workspace)
    .where('due_at', '>', now - ASK_MEMORY_MS)
    .where('answered_at', 'is', null)
    .executeTakeFirstOrThrow();
  return { waiting: Number(waiting), overdue: Number(waiting) - Number(in_time), undelivered: Number(waiting) - Number(delivered) };
}

export async function recentAsks(db: Db, workspace: string, now: number, limit: number): Promise<AskRow[]> {
  return await asks(db, workspace, now).orderBy('id', 'desc').limit(limit).execute();
}

export async function insertHandoff(db: Db, handoff: HandoffRow): Promise<void> {
  await db.insertInto('handoffs').values(handoff).execute();
}

export async function findHandoff(db: Db, workspace: string, id: string): Promise<HandoffRow | undefined> {
  return await db.selectFrom('handoffs').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function updateHandoff(db: Db, workspace: string, id: string, change: Partial<Omit<HandoffRow, 'workspace_id' | 'id'>>): Promise<void> {
  await db.updateTable('handoffs').set(change).where('workspace_id', '=', workspace).where('id', '=', id).execute();
}

/** Nobody has accepted them. */
const offered = (db: Db, workspace: string) => db.selectFrom('handoffs').where('workspace_id', '=', workspace).where('status', '=', 'offered');

const offeredTo = (db: Db, workspace: string, developerId: string, agentType: string | null) =>
  offered(db, workspace)
    .selectAll()
    .where('to_developer_id', '=', developerId)
    .where((eb) => (agentType === null ? eb('to_agent_type', 'is', null) : eb.or([eb('to_agent_type', 'is', null), eb('to_agent_type', '=', agentType)])));

export async function handoffsTo(db: Db, workspace: string, developerId: string, agentType: string | null, limit: number): Promise<HandoffRow[]> {
  return await offeredTo(db, workspace, developerId, agentType).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

/** Up to which handoff somebody was told of all; `only`: of those none is wanted again. */
export interface HandoffMark {
  readonly told: string;
  readonly only: boolean;
}

/** First those that they were not told of, the oldest before all: whoever tells of them from the beginning passes over none. */
export async function handoffsUntold(
  db: Db,
  workspace: string,
  developerId: string,
  agentType: string | null,
  { told, only }: HandoffMark,
  limit: number,
): Promise<HandoffRow[]> {
  const all = offeredTo(db, workspace, developerId, agentType);
  const rows = await all
    .orderBy((eb) => eb('id', '<=', told))
    .orderBy('id')
    .limit(limit)
    .execute();
  // Not asked of the store: SQLite would read all handoffs since then, whoever they are for.
  return only ? rows.filter(({ id }) => id > told) : rows;
}

export async function handoffsBy(db: Db, workspace: string, developerId: string, limit: number): Promise<HandoffRow[]> {
  return await offered(db, workspace)
    .selectAll()
    .where('from_developer_id', '=', developerId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

export async function openHandoffs(db: Db, workspace: string, limit: number): Promise<HandoffRow[]> {
  return await offered(db, workspace).selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

export async function countOpenHandoffs(db: Db, workspace: string): Promise<number> {
  const { count } = await offered(db, workspace)
    .select((eb) => eb.fn.countAll<string | number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function recentHandoffs(db: Db, workspace: string, limit: number): Promise<HandoffRow[]> {
  return await db.selectFrom('handoffs').selectAll().where('workspace_id', '=', workspace).orderBy('id', 'desc').limit(limit).execute();
}

/** A list that is read on from `before`, the newest first: ids rise with time. */
export interface Slice {
  readonly before: string | undefined;
  readonly limit: number;
}

/** Of everybody, whether they still wait for somebody or not. */
export async function askSlice(db: Db, workspace: string, { before, limit }: Slice): Promise<AskRow[]> {
  const all = db.selectFrom('asks').selectAll().where('workspace_id', '=', workspace);
  return await (before === undefined ? all : all.where('id', '<', before)).orderBy('id', 'desc').limit(limit).execute();
}

export async function handoffSlice(db: Db, workspace: string, { before, limit }: Slice): Promise<HandoffRow[]> {
  const all = db.selectFrom('handoffs').selectAll().where('workspace_id', '=', workspace);
  return await (before === undefined ? all : all.where('id', '<', before)).orderBy('id', 'desc').limit(limit).execute();
}

export async function announcementSlice(db: Db, workspace: string, { before, limit }: Slice): Promise<AnnouncementRow[]> {
  const all = db.selectFrom('announcements').selectAll().where('workspace_id', '=', workspace);
  return await (before === undefined ? all : all.where('id', '<', before)).orderBy('id', 'desc').limit(limit).execute();
}

export async function findAnnouncement(db: Db, workspace: string, id: string): Promise<AnnouncementRow | undefined> {
  return await db.selectFrom('announcements').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

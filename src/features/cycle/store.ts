import { calledRepository } from '../../kernel/like.ts';
import type { Db } from '../../storage/engine.ts';
import { findRow, findRows, matching, pageOf, readJson } from '../../storage/rows.ts';
import type { CycleHandoffRow, CycleRow } from '../../storage/schema-rows.ts';
import type { CycleStatus } from './contract.ts';
import { type CycleMachine, machineSchema } from './machine.ts';
import { IMPORTED_LOCK } from './tokens.ts';

/** A stored cycle whose machine is already parsed. */
export type StoredCycle = Omit<CycleRow, 'machine'> & { readonly machine: CycleMachine };

type CycleKey = Pick<CycleRow, 'workspace_id' | 'id'>;

export const readCycle = (row: CycleRow): StoredCycle => ({ ...row, machine: readJson(machineSchema, row.machine) });

/** Changes a cycle and increases its revision. The higher revision marks the files of the cycle as out of date. */
export async function changeCycle(db: Db, { workspace_id, id }: CycleKey, values: Partial<CycleRow>): Promise<void> {
  await db
    .updateTable('cycles')
    .set((eb) => ({ ...values, revision: eb('revision', '+', 1) }))
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute();
}

export const activeCycle = (db: Db, workspace: string, repository: string) => cycleWhere(db, { repository, status: 'active', workspace_id: workspace });

export const findCycle = (db: Db, workspace: string, id: string) => cycleWhere(db, { workspace_id: workspace, id });

async function cycleWhere(db: Db, match: Partial<CycleRow>): Promise<StoredCycle | undefined> {
  const row = await findRow(db, 'cycles', match);
  return row && readCycle(row);
}

/** Returns the cycle ids with this prefix from all workspaces. They must differ, because the archive folder has only the cycle id as its name. */
export async function idsLike(db: Db, repository: string, beginning: string): Promise<Set<string>> {
  const rows = await matching(db, 'cycles', { repository })
    .select('cycle_id')
    // In a LIKE pattern, an underscore matches any character. The few additional matches are harmless.
    .where('cycle_id', 'like', `${beginning}%`)
    .execute();
  return new Set(rows.map(({ cycle_id }) => cycle_id));
}

export interface CycleFilter {
  readonly repository?: string | undefined;
  /** The name that the team uses for the repository. */
  readonly repo?: string | undefined;
  readonly status?: readonly CycleStatus[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A page of cycles, newest first. */
export async function listCycles(
  db: Db,
  workspace: string,
  { repository, repo, status, limit, offset }: CycleFilter,
): Promise<{ rows: StoredCycle[]; total: number }> {
  const found = matching(db, 'cycles', { workspace_id: workspace, repository, status })
    .selectAll()
    .$if(repo !== undefined, (query) => query.where(calledRepository('repository', repo as string)));
  const { rows, total } = await pageOf(found.orderBy('id', 'desc'), { limit, offset });
  return { rows: rows.map(readCycle), total };
}

const handoffsOf = (db: Db, { workspace_id, id }: CycleKey) => matching(db, 'cycle_handoffs', { workspace_id, cycle: id });

/** Handoffs are numbered from 1, so the highest number is their count. */
export async function countHandoffs(db: Db, cycle: CycleKey): Promise<number> {
  const { last } = await handoffsOf(db, cycle)
    .select((eb) => eb.fn.max('number').as('last'))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** The latest handoff to each role. */
export async function currentHandoffs(db: Db, cycle: CycleKey): Promise<Map<string, CycleHandoffRow>> {
  const latest = handoffsOf(db, cycle)
    .select((eb) => eb.fn.max('number').as('number'))
    .groupBy('target');
  const rows = await handoffsOf(db, cycle).selectAll().where('number', 'in', latest).execute();
  return new Map(rows.map((row) => [row.target, row]));
}

/** Returns the last handoffs, the latest handoff to each role, and the total number. The whole list may be very long after much rework. */
export async function recentHandoffs(db: Db, cycle: CycleKey, limit: number): Promise<{ rows: CycleHandoffRow[]; total: number }> {
  const total = await countHandoffs(db, cycle);
  if (limit === 0) return { rows: [], total };
  const last = await handoffsOf(db, cycle).selectAll().orderBy('number', 'desc').limit(limit).execute();
  const current = [...(await currentHandoffs(db, cycle)).values()].filter(({ number }) => number <= total - limit);
  return { rows: [...current.sort((a, b) => a.number - b.number), ...last.reverse()], total };
}

/** A page of handoffs, newest first. */
export async function pageOfHandoffs(
  db: Db,
  { workspace_id, id }: CycleKey,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<{ rows: CycleHandoffRow[]; total: number }> {
  const earlier = { workspace_id, cycle: id, number: before === undefined ? undefined : { '<': before } };
  const rows = await findRows(db, 'cycle_handoffs', earlier, { order: { number: 'desc' }, limit });
  return { rows, total: await countHandoffs(db, { workspace_id, id }) };
}

/** Returns the handoff with this number, and the previous handoff to the same role. */
export async function handoffWithPrevious(db: Db, { workspace_id, id }: CycleKey, number: number) {
  const handoff = await findRow(db, 'cycle_handoffs', { workspace_id, cycle: id, number });
  if (!handoff) return undefined;
  const earlier = { workspace_id, cycle: id, target: handoff.target, number: { '<': number } };
  return { handoff, previous: await findRow(db, 'cycle_handoffs', earlier, { number: 'desc' }) };
}

/** The targets of all handoffs in order. They show which phases the cycle went through. */
export async function handoffTargets(db: Db, cycle: CycleKey): Promise<string[]> {
  const rows = await handoffsOf(db, cycle).select('target').orderBy('number').execute();
  return rows.map(({ target }) => target);
}

/**
 * Queries for the active and the latest cycle of the repository. They search all workspaces, because the workspaces share the folder, and exclude
 * imported cycles. There are two queries so that each can use an index: every call runs them, and a repository may have thousands of cycles.
 */
export const latestCycle = (db: Db, repository: string) => {
  const of = () => db.selectFrom('cycles').selectAll().where('repository', '=', repository).where('lock_token', '!=', IMPORTED_LOCK);
  return { active: of().where('status', '=', 'active'), last: of().orderBy('id', 'desc').limit(1) };
};

export async function findLatestCycle(db: Db, repository: string): Promise<StoredCycle | undefined> {
  const { active, last } = latestCycle(db, repository);
  const row = (await active.executeTakeFirst()) ?? (await last.executeTakeFirst());
  return row && readCycle(row);
}

/** A call writes the files of at most this many outdated cycles. The next call or sweep writes the rest. */
const MAX_BEHIND = 50;

export const behindIn = (db: Db, repository: string) =>
  db.selectFrom('cycles').selectAll().where('repository', '=', repository).whereRef('mirrored', '<', 'revision').orderBy('id').limit(MAX_BEHIND);

export async function cyclesBehind(db: Db, repository: string): Promise<StoredCycle[]> {
  return (await behindIn(db, repository).execute()).map(readCycle);
}

/** Repositories whose files are out of date, in alphabetical order. Only repositories after `after` are returned. */
export async function repositoriesBehind(db: Db, most: number, after: string): Promise<string[]> {
  const behind = db.selectFrom('cycles').select('repository').distinct().whereRef('mirrored', '<', 'revision').where('repository', '>', after);
  const rows = await behind.orderBy('repository').limit(most).execute();
  return rows.map(({ repository }) => repository);
}

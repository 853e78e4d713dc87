import type { Updateable } from 'kysely';
import { calledRepository } from '../../kernel/tail.ts';
import { readJson } from '../../storage/columns.ts';
import type { Db } from '../../storage/engine.ts';
import type { CycleHandoffRow, CycleRow, Database } from '../../storage/schema-rows.ts';
import type { CycleStatus } from './contract.ts';
import { type CycleMachine, machineSchema } from './machine.ts';

/** A cycle with its machine read. */
export type StoredCycle = Omit<CycleRow, 'machine'> & { readonly machine: CycleMachine };

export const readCycle = (row: CycleRow): StoredCycle => ({ ...row, machine: readJson(machineSchema, row.machine) });

/** False where the repository has an active one, of whichever workspace. */
export async function insertCycle(db: Db, row: CycleRow): Promise<boolean> {
  const made = await db
    .insertInto('cycles')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return made !== undefined;
}

/** Every change of what the files show makes them stale. */
export async function changeCycle(
  db: Db,
  { workspace_id, id }: Pick<StoredCycle, 'workspace_id' | 'id'>,
  values: Updateable<Database['cycles']>,
): Promise<void> {
  await db
    .updateTable('cycles')
    .set((eb) => ({ ...values, revision: eb('revision', '+', 1) }))
    .where('workspace_id', '=', workspace_id)
    .where('id', '=', id)
    .execute();
}

export async function activeCycle(db: Db, workspace: string, repository: string): Promise<StoredCycle | undefined> {
  const row = await db
    .selectFrom('cycles')
    .selectAll()
    .where('repository', '=', repository)
    .where('status', '=', 'active')
    .where('workspace_id', '=', workspace)
    .executeTakeFirst();
  return row && readCycle(row);
}

export async function findCycle(db: Db, workspace: string, id: string): Promise<StoredCycle | undefined> {
  const row = await db.selectFrom('cycles').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
  return row && readCycle(row);
}

/** Cycle ids that begin so, of whichever workspace: an archive's folder is named by its id alone. */
export async function idsLike(db: Db, repository: string, beginning: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('cycles')
    .select('cycle_id')
    .where('repository', '=', repository)
    // An underscore stands for any character: a few more than are meant do no harm.
    .where('cycle_id', 'like', `${beginning}%`)
    .execute();
  return new Set(rows.map(({ cycle_id }) => cycle_id));
}

export interface CycleFilter {
  readonly repository?: string | undefined;
  /** What people call it. */
  readonly repo?: string | undefined;
  readonly status?: readonly CycleStatus[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Newest first. */
export async function listCycles(
  db: Db,
  workspace: string,
  { repository, repo, status, limit, offset }: CycleFilter,
): Promise<{ rows: StoredCycle[]; total: number }> {
  let matching = db.selectFrom('cycles').where('workspace_id', '=', workspace);
  if (repository !== undefined) matching = matching.where('repository', '=', repository);
  if (repo !== undefined) matching = matching.where(calledRepository('repository', repo));
  if (status !== undefined) matching = matching.where('status', 'in', status);
  const rows = await matching.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { rows: rows.map(readCycle), total: Number(total) };
}

export async function addHandoff(db: Db, row: Omit<CycleHandoffRow, 'number'>): Promise<number> {
  const { last } = await db
    .selectFrom('cycle_handoffs')
    .select((eb) => eb.fn.max('number').as('last'))
    .where('workspace_id', '=', row.workspace_id)
    .where('cycle', '=', row.cycle)
    .executeTakeFirstOrThrow();
  const number = (last ?? 0) + 1;
  await db
    .insertInto('cycle_handoffs')
    .values({ ...row, number })
    .execute();
  return number;
}

const handoffsOf = (db: Db, { workspace_id, id }: Pick<StoredCycle, 'workspace_id' | 'id'>) =>
  db.selectFrom('cycle_handoffs').where('workspace_id', '=', workspace_id).where('cycle', '=', id);

/** The latest for each target. */
export async function currentHandoffs(db: Db, cycle: Pick<StoredCycle, 'workspace_id' | 'id'>): Promise<Map<string, CycleHandoffRow>> {
  const latest = handoffsOf(db, cycle)
    .select((eb) => eb.fn.max('number').as('number'))
    .groupBy('target');
  const rows = await handoffsOf(db, cycle).selectAll().where('number', 'in', latest).execute();
  return new Map(rows.map((row) => [row.target, row]));
}

/** The last ones and the latest for each target, in order, and how many there are in all: a cycle may be reworked for ever. */
export async function recentHandoffs(
  db: Db,
  cycle: Pick<StoredCycle, 'workspace_id' | 'id'>,
  most: number,
): Promise<{ rows: CycleHandoffRow[]; total: number }> {
  const total = await countHandoffs(db, cycle);
  if (most === 0) return { rows: [], total };
  const last = await handoffsOf(db, cycle).selectAll().orderBy('number', 'desc').limit(most).execute();
  const current = [...(await currentHandoffs(db, cycle)).values()].filter(({ number }) => number <= total - most);
  return { rows: [...current.sort((a, b) => a.number - b.number), ...last.reverse()], total };
}

/** They are numbered from 1 on. */
async function countHandoffs(db: Db, cycle: Pick<StoredCycle, 'workspace_id' | 'id'>): Promise<number> {
  const { last } = await handoffsOf(db, cycle)
    .select((eb) => eb.fn.max('number').as('last'))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** The last first. */
export async function pageOfHandoffs(
  db: Db,
  cycle: Pick<StoredCycle, 'workspace_id' | 'id'>,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<{ rows: CycleHandoffRow[]; total: number }> {
  const earlier = handoffsOf(db, cycle).$if(before !== undefined, (query) => query.where('number', '<', before as number));
  return { rows: await earlier.selectAll().orderBy('number', 'desc').limit(limit).execute(), total: await countHandoffs(db, cycle) };
}

/** The one with this number, and the last one before it for the same role. */
export async function handoffWithPrevious(db: Db, cycle: Pick<StoredCycle, 'workspace_id' | 'id'>, number: number) {
  const handoff = await handoffsOf(db, cycle).selectAll().where('number', '=', number).executeTakeFirst();
  if (!handoff) return undefined;
  const earlier = handoffsOf(db, cycle).selectAll().where('target', '=', handoff.target).where('number', '<', number);
  return { handoff, previous: await earlier.orderBy('number', 'desc').limit(1).executeTakeFirst() };
}

/** For whom they were, in their order: they say which way a cycle went. */
export async function handoffTargets(db: Db, cycle: Pick<StoredCycle, 'workspace_id' | 'id'>): Promise<string[]> {
  const rows = await handoffsOf(db, cycle).select('target').orderBy('number').execute();
  return rows.map(({ target }) => target);
}

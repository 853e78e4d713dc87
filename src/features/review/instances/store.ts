import { sql, type Updateable } from 'kysely';
import type { Principal } from '../../../kernel/call.ts';
import { calledRepository } from '../../../kernel/tail.ts';
import type { Db } from '../../../storage/engine.ts';
import type { Database, InstanceRelationshipRow, InstanceRow } from '../../../storage/schema-rows.ts';
import type { InstanceStatus, InstanceStep, InstanceType } from './contract.ts';
import { AT_WORK } from './lifecycle.ts';
import type { InstancePlace } from './orphans.ts';

type Key = Pick<InstanceRow, 'workspace_id' | 'id'>;

export async function insertInstance(db: Db, row: InstanceRow): Promise<void> {
  await db.insertInto('instances').values(row).execute();
}

export async function findInstance(db: Db, workspace: string, id: string): Promise<InstanceRow | undefined> {
  return await db.selectFrom('instances').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
}

export async function findInstances(db: Db, workspace: string, ids: readonly string[]): Promise<InstanceRow[]> {
  if (ids.length === 0) return [];
  return await db.selectFrom('instances').selectAll().where('workspace_id', '=', workspace).where('id', 'in', ids).execute();
}

export async function changeInstance(db: Db, { workspace_id, id }: Key, values: Updateable<Database['instances']>): Promise<void> {
  await db.updateTable('instances').set(values).where('workspace_id', '=', workspace_id).where('id', '=', id).execute();
}

/** Of one that nobody was told of. */
export async function deleteInstance(db: Db, { workspace_id, id }: Key): Promise<void> {
  await db.deleteFrom('instances').where('workspace_id', '=', workspace_id).where('id', '=', id).execute();
}

/** Ids that begin so, of instances that are or were. */
export async function idsOf(db: Db, workspace: string, stem: string): Promise<string[]> {
  const rows = await db.selectFrom('instances').select('id').where('workspace_id', '=', workspace).where('id', 'like', `${stem}-a%`).execute();
  return rows.map(({ id }) => id);
}

/** What is being done to instances, or is to be; in whichever workspace, on this machine. */
export async function stepsUnderWay(db: Db, machine: string, steps: readonly InstanceStep[]): Promise<InstanceRow[]> {
  return await db.selectFrom('instances').selectAll().where('step', 'in', steps).where('machine', '=', machine).orderBy('step_until').execute();
}

/** Those that are not over, and that nobody is just starting or ending. In whichever workspace, on this machine. */
export async function atWork(db: Db, machine: string): Promise<InstanceRow[]> {
  return await db
    .selectFrom('instances')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('step', 'is', null)
    .where('machine', '=', machine)
    .orderBy('id')
    .execute();
}

/** Those whose pull request is open, or was closed since then. In whichever workspace, on this machine. */
export async function pullsToAskFor(db: Db, machine: string, closedSince: number): Promise<InstanceRow[]> {
  return await db
    .selectFrom('instances')
    .selectAll()
    .where('machine', '=', machine)
    .where('pr_number', 'is not', null)
    .where('step', 'is', null)
    .where((eb) => eb.or([eb('status', '=', 'pr_created'), eb.and([eb('status', '=', 'pr_closed'), eb('updated_at', '>=', closedSince)])]))
    .orderBy('id')
    .execute();
}

/** Of all workspaces, those that are being started or may be started again too. An agent that ended with its pull request is neither. */
export async function countRunning(db: Db, machine: string): Promise<number> {
  const rows = db
    .selectFrom('instances')
    .where('ended_at', 'is', null)
    .where('machine', '=', machine)
    .where((eb) => eb.or([eb('pid', 'is not', null), eb('step', 'is not', null), eb('status', 'in', AT_WORK)]));
  const { count } = await rows.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return Number(count);
}

export interface InstanceFilter {
  readonly status?: readonly InstanceStatus[] | undefined;
  readonly type?: InstanceType | undefined;
  /** As people call it. */
  readonly repository?: string | undefined;
  /** Who asks, where they may not know of private developers in which repository they work. */
  readonly viewer?: Principal | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** The newest first; not those that are still being made. */
export async function listInstances(
  db: Db,
  workspace: string,
  { status, type, repository, viewer, limit, offset }: InstanceFilter,
): Promise<{ rows: InstanceRow[]; total: number }> {
  let matching = db
    .selectFrom('instances')
    .where('workspace_id', '=', workspace)
    .where((eb) => eb.or([eb('step', 'is', null), eb('step', 'not in', ['worktree', 'session'])]));
  if (status !== undefined) matching = matching.where('status', 'in', status);
  if (type !== undefined) matching = matching.where('type', '=', type);
  if (repository !== undefined) matching = matching.where(calledRepository('repository', repository));
  if (repository !== undefined && viewer && viewer.kind !== 'operator') {
    const others = db
      .selectFrom('developers')
      .select('id')
      .where('visibility', '=', 'private')
      .where('id', '!=', viewer.developerId ?? '');
    matching = matching.where((eb) => eb.or([eb('developer_id', 'is', null), eb('developer_id', 'not in', others)]));
  }
  // No index has this order: where a few of many are wanted, SQLite would look through all of them for it.
  const newest = status === undefined ? sql.ref('created_at') : sql`created_at + 0`;
  const rows = await matching.selectAll().orderBy(newest, 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute();
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { rows, total: Number(total) };
}

export async function insertRelationship(db: Db, row: InstanceRelationshipRow): Promise<void> {
  await db.insertInto('instance_relationships').values(row).execute();
}

/** The reviews of an instance, in their order. */
export async function reviewsOf(db: Db, workspace: string, parent: string): Promise<InstanceRelationshipRow[]> {
  return await db
    .selectFrom('instance_relationships')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('parent_instance', '=', parent)
    .where('relationship_type', '=', 'spawned_review')
    .orderBy('review_iteration')
    .execute();
}

/** With its reviews, or with what it reviews. */
export async function relationshipsOf(db: Db, workspace: string, id: string): Promise<InstanceRelationshipRow[]> {
  return await db
    .selectFrom('instance_relationships')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where((eb) => eb.or([eb('parent_instance', '=', id), eb('child_instance', '=', id)]))
    .orderBy('created_at')
    .orderBy('child_instance')
    .execute();
}

/** How many reviews each of these has run. */
export async function reviewCounts(db: Db, workspace: string, parents: readonly string[]): Promise<Map<string, number>> {
  if (parents.length === 0) return new Map();
  const rows = await db
    .selectFrom('instance_relationships')
    .select((eb) => ['parent_instance', eb.fn.countAll<number>().as('count')])
    .where('workspace_id', '=', workspace)
    .where('parent_instance', 'in', parents)
    .where('relationship_type', '=', 'spawned_review')
    .groupBy('parent_instance')
    .execute();
  return new Map(rows.map(({ parent_instance, count }) => [parent_instance, Number(count)]));
}

/** Whose work a review agent looks at. */
export async function reviewedBy(db: Db, workspace: string, child: string): Promise<InstanceRelationshipRow | undefined> {
  return await db
    .selectFrom('instance_relationships')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('child_instance', '=', child)
    .where('relationship_type', '=', 'spawned_review')
    .executeTakeFirst();
}

export async function endRelationship(db: Db, row: InstanceRelationshipRow, outcome: string, now: number): Promise<void> {
  await db
    .updateTable('instance_relationships')
    .set({ outcome, ended_at: now })
    .where('workspace_id', '=', row.workspace_id)
    .where('parent_instance', '=', row.parent_instance)
    .where('child_instance', '=', row.child_instance)
    .where('ended_at', 'is', null)
    .execute();
}

/** A review of this instance that is being started: it has no relationship yet. */
export async function reviewBeingStarted(db: Db, workspace: string, parent: string): Promise<InstanceRow | undefined> {
  return await db
    .selectFrom('instances')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where('parent_instance_id', '=', parent)
    .where('step', 'in', ['worktree', 'session'])
    .executeTakeFirst();
}

/** What every instance that is or was has on its machine, in whichever workspace. */
export async function placesOf(db: Db): Promise<InstancePlace[]> {
  return await db.selectFrom('instances').select(['session_name', 'worktree_path', 'repository', 'machine', 'ended_at', 'step', 'kept_reason']).execute();
}

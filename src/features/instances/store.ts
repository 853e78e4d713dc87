import type { Updateable } from 'kysely';
import type { Database } from '../../storage/database.ts';
import type { Db } from '../../storage/engine.ts';
import type { InstanceRelationshipRow, InstanceRow, InstanceStatus, InstanceType } from './tables.ts';

type Key = Pick<InstanceRow, 'workspace_id' | 'id'>;

export async function insertInstance(db: Db, row: InstanceRow): Promise<void> {
  await db.insertInto('instances').values(row).execute();
}

export async function findInstance(db: Db, workspace: string, id: string): Promise<InstanceRow | undefined> {
  return await db.selectFrom('instances').selectAll().where('workspace_id', '=', workspace).where('id', '=', id).executeTakeFirst();
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
export async function stepsUnderWay(db: Db, machine: string): Promise<InstanceRow[]> {
  return await db.selectFrom('instances').selectAll().where('step', 'is not', null).where('machine', '=', machine).orderBy('step_until').execute();
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

export interface InstanceFilter {
  readonly status?: readonly InstanceStatus[] | undefined;
  readonly type?: InstanceType | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** The newest first; not those that are still being made. */
export async function listInstances(
  db: Db,
  workspace: string,
  { status, type, limit, offset }: InstanceFilter,
): Promise<{ rows: InstanceRow[]; total: number }> {
  let matching = db
    .selectFrom('instances')
    .where('workspace_id', '=', workspace)
    .where((eb) => eb.or([eb('step', 'is', null), eb('step', '=', 'ending')]));
  if (status !== undefined) matching = matching.where('status', 'in', status);
  if (type !== undefined) matching = matching.where('type', '=', type);
  const rows = await matching.selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute();
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

import { sql } from 'kysely';
import type { Principal } from '../../../kernel/call.ts';
import { calledRepository } from '../../../kernel/like.ts';
import type { Db } from '../../../storage/engine.ts';
import { changeRows, findRow, findRows, hasRow, matching, pageOf } from '../../../storage/rows.ts';
import type { InstanceRelationshipRow, InstanceRow } from '../../../storage/schema-rows.ts';
import type { InstanceStatus, InstanceStep, InstanceType } from './contract.ts';
import { AT_WORK } from './lifecycle.ts';

export const findInstance = (db: Db, workspace: string, id: string) => findRow(db, 'instances', { workspace_id: workspace, id });

export const changeInstance = (db: Db, { workspace_id, id }: Pick<InstanceRow, 'workspace_id' | 'id'>, values: Partial<InstanceRow>) =>
  changeRows(db, 'instances', { workspace_id, id }, values);

/** Returns the ids of current and former instances that begin with this stem. */
export async function idsOf(db: Db, workspace: string, stem: string): Promise<string[]> {
  const rows = await matching(db, 'instances', { workspace_id: workspace }).select('id').where('id', 'like', `${stem}-a%`).execute();
  return rows.map(({ id }) => id);
}

/** Returns instances on this machine, from all workspaces, that are in one of these steps. */
export const stepsUnderWay = (db: Db, machine: string, steps: readonly InstanceStep[]) =>
  findRows(db, 'instances', { step: steps, machine }, { order: { step_until: 'asc' } });

/** Returns instances on this machine, from all workspaces, that have not ended and are in no step. */
export const atWork = (db: Db, machine: string) => findRows(db, 'instances', { ended_at: null, step: null, machine }, { order: { id: 'asc' } });

/** Returns instances on this machine, from all workspaces, whose pull request is open or was closed after `closedSince`. */
export async function pullsToAskFor(db: Db, machine: string, closedSince: number): Promise<InstanceRow[]> {
  return await matching(db, 'instances', { machine, pr_number: { '!=': null }, step: null })
    .selectAll()
    .where((eb) => eb.or([eb('status', '=', 'pr_created'), eb.and([eb('status', '=', 'pr_closed'), eb('updated_at', '>=', closedSince)])]))
    .orderBy('id')
    .execute();
}

/**
 * Returns the number of running instances on this machine, from all workspaces. Instances that may restart are included. An instance with a pull
 * request whose agent has ended does not count.
 */
export async function countRunning(db: Db, machine: string): Promise<number> {
  const rows = matching(db, 'instances', { ended_at: null, machine }).where((eb) =>
    eb.or([eb('pid', 'is not', null), eb('step', 'is not', null), eb('status', 'in', AT_WORK)]),
  );
  const { count } = await rows.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return Number(count);
}

export interface InstanceFilter {
  readonly status?: readonly InstanceStatus[] | undefined;
  readonly type?: InstanceType | undefined;
  /** Name of the repository, which is the last part of its path. */
  readonly repository?: string | undefined;
  /** Set if the caller must not learn in which repositories private developers work. */
  readonly viewer?: Principal | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Returns instances, newest first. Instances that are still being created are left out. */
export async function listInstances(
  db: Db,
  workspace: string,
  { status, type, repository, viewer, limit, offset }: InstanceFilter,
): Promise<{ rows: InstanceRow[]; total: number }> {
  let found = matching(db, 'instances', { workspace_id: workspace, status, type })
    .selectAll()
    .where((eb) => eb.or([eb('step', 'is', null), eb('step', 'not in', ['worktree', 'session'])]));
  if (repository !== undefined) found = found.where(calledRepository('repository', repository));
  if (repository !== undefined && viewer && viewer.kind !== 'operator') {
    const others = db
      .selectFrom('developers')
      .select('id')
      .where('visibility', '=', 'private')
      .where('id', '!=', viewer.developerId ?? '');
    found = found.where((eb) => eb.or([eb('developer_id', 'is', null), eb('developer_id', 'not in', others)]));
  }
  // `+ 0` keeps SQLite from scanning all instances by time to find the few with a rare status.
  const newest = status === undefined ? sql.ref('created_at') : sql`created_at + 0`;
  return await pageOf(found.orderBy(newest, 'desc').orderBy('id', 'desc'), { limit, offset });
}

const SPAWNED = { relationship_type: 'spawned_review' } as const;

/** Returns the reviews of an instance, in order. */
export const reviewsOf = (db: Db, workspace: string, parent: string) =>
  findRows(db, 'instance_relationships', { workspace_id: workspace, parent_instance: parent, ...SPAWNED }, { order: { review_iteration: 'asc' } });

/** Returns the relationships of an instance with its reviews, or with the instance that it reviews. */
export async function relationshipsOf(db: Db, workspace: string, id: string): Promise<InstanceRelationshipRow[]> {
  return await matching(db, 'instance_relationships', { workspace_id: workspace })
    .selectAll()
    .where((eb) => eb.or([eb('parent_instance', '=', id), eb('child_instance', '=', id)]))
    .orderBy('created_at')
    .orderBy('child_instance')
    .execute();
}

/** Returns the number of reviews for each of these instances. */
export async function reviewCounts(db: Db, workspace: string, parents: readonly string[]): Promise<Map<string, number>> {
  if (parents.length === 0) return new Map();
  const rows = await matching(db, 'instance_relationships', { workspace_id: workspace, parent_instance: parents, ...SPAWNED })
    .select((eb) => ['parent_instance', eb.fn.countAll<number>().as('count')])
    .groupBy('parent_instance')
    .execute();
  return new Map(rows.map(({ parent_instance, count }) => [parent_instance, Number(count)]));
}

/** Returns the relationship of a review agent with the instance that it reviews. */
export const reviewedBy = (db: Db, workspace: string, child: string) =>
  findRow(db, 'instance_relationships', { workspace_id: workspace, child_instance: child, ...SPAWNED });

/** Returns whether a review of this instance is being started. Such a review has no relationship yet. */
export const isReviewBeingStarted = (db: Db, workspace: string, parent: string) =>
  hasRow(db, 'instances', { workspace_id: workspace, parent_instance_id: parent, step: ['worktree', 'session'] });

/** Returns the places of all instances in all workspaces, including instances that have ended. */
export async function placesOf(db: Db): Promise<InstancePlace[]> {
  return await db.selectFrom('instances').select(['session_name', 'worktree_path', 'repository', 'machine', 'ended_at', 'step', 'kept_reason']).execute();
}

/** The session and worktree of an instance, and whether it has ended. */
export type InstancePlace = Pick<InstanceRow, 'session_name' | 'worktree_path' | 'repository' | 'machine' | 'ended_at' | 'step' | 'kept_reason'>;

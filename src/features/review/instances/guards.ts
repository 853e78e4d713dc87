import type { Principal } from '../../../kernel/call.ts';
import { notFound, Refusal } from '../../../kernel/reply.ts';
import type { Db } from '../../../storage/engine.ts';
import type { InstanceRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import type { InstanceStep } from './contract.ts';
import { allows } from './lifecycle.ts';
import { isOverdue } from './step.ts';
import { findInstance } from './store.ts';
import { instanceViewer } from './views.ts';

export async function requireInstance(db: Db, workspace: string, id: string): Promise<InstanceRow> {
  const row = await findInstance(db, workspace, id);
  if (row) return row;
  throw notFound('INSTANCE_NOT_FOUND', `No instance has the id ${id}.`, 'Run `covenant instances list` for the ids.', 'instance_id');
}

/** Returns the type of the calling agent. Undefined if the caller is not an agent that this server started. */
export const instanceTypeOf =
  (db: Db) =>
  async ({ workspace, instanceId }: Principal): Promise<string | undefined> =>
    instanceId === null ? undefined : (await findInstance(db, workspace, instanceId))?.type;

/** Refuses if the instance runs on another machine, because only the server on that machine can reach its worktree and session. */
export function requireHere(row: InstanceRow, machine: string): void {
  if (row.machine === machine) return;
  const next = 'Run the command on that machine, or call its server. A machine is named HOST:HOME.';
  throw new Refusal('WRONG_MACHINE', `${row.id} runs on ${row.machine}; this server is ${machine}.`, next, { instance_id: row.id, machine: row.machine });
}

const DOING: Record<Exclude<InstanceStep, 'pull' | 'issues'>, string> = {
  worktree: 'being started',
  session: 'being started',
  restart: 'being restarted',
  ending: 'being stopped',
};

/**
 * Refuses while a start, restart or end of the instance is in progress, because the server that carries it out will finish or undo it. An overdue
 * restart or end does not count, so that a person can decide again. Steps on GitHub do not count either, because they may take an hour. If the
 * instance ends during such a step, the agent that requested the step gets a refusal.
 */
export function requireIdle(row: InstanceRow, now: number): void {
  if (row.step === null || row.step === 'pull' || row.step === 'issues') return;
  if ((row.step === 'restart' || row.step === 'ending') && isOverdue(row, now)) return;
  const next = 'Repeat the call in a few seconds. If no server is running, start one with `covenant up`: it finishes interrupted steps.';
  throw new Refusal('BUSY', `${row.id} is ${DOING[row.step]} now.`, next, { instance_id: row.id, step: row.step });
}

/** Returns the instance. Refuses if this person may not see its output, or if it runs on another machine. */
export async function requireWatchable(db: Db, viewer: Principal, id: string, machine: string): Promise<InstanceRow> {
  const row = await requireInstance(db, viewer.workspace, id);
  // This is checked before the machine, because the refusal for a wrong machine reveals on which machine the instance runs.
  if ((await instanceViewer(db, viewer, [])).isHidden(row)) {
    const message = `${id} works for a private developer.`;
    throw new Refusal('INSTANCE_PRIVATE', message, 'Ask that developer, or the operator of the server.', { field: 'instance_id' });
  }
  requireHere(row, machine);
  return row;
}

/** Returns the parent of a review. Throws if the parent's status no longer allows a review, so that the start of the review is undone. */
export async function requireParentReady(tx: Tx, { parent_instance_id }: InstanceRow): Promise<InstanceRow | undefined> {
  if (parent_instance_id === null) return undefined;
  const parent = await findInstance(tx.db, tx.workspace, parent_instance_id);
  if (!parent || !allows('review requested', parent.status)) throw new Error(`${parent_instance_id} is now ${parent?.status ?? 'gone'}`);
  return parent;
}

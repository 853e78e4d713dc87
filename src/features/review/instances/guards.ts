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
  throw notFound('INSTANCE_NOT_FOUND', `There is no instance ${id}.`, 'covenant instances list names those there are.', 'instance_id');
}

/** The type of the agent that calls. Undefined for callers that this server has not started. */
export const agentTypeOf =
  (db: Db) =>
  async ({ workspace, instanceId }: Principal): Promise<string | undefined> =>
    instanceId === null ? undefined : (await findInstance(db, workspace, instanceId))?.type;

/** Its worktree and session are where it was started, and only the server there can reach them. */
export function requireHere(row: InstanceRow, machine: string): void {
  if (row.machine === machine) return;
  const next = `Run the command there, or call the server there. A machine is its host and the home of its server.`;
  throw new Refusal('WRONG_MACHINE', `${row.id} runs on ${row.machine}; this server is ${machine}.`, next, { instance_id: row.id, machine: row.machine });
}

const DOING: Record<Exclude<InstanceStep, 'pull' | 'issues'>, string> = {
  worktree: 'being started',
  session: 'being started',
  restart: 'being started again',
  ending: 'being ended',
};

/**
 * Refuses while a start, restart or end is in progress; its holder finishes or undoes it. An overdue restart or end may be decided
 * again. Steps on GitHub do not count, because they may take an hour; their caller then finds the instance ended.
 */
export function requireIdle(row: InstanceRow, now: number): void {
  if (row.step === null || row.step === 'pull' || row.step === 'issues') return;
  if ((row.step === 'restart' || row.step === 'ending') && isOverdue(row, now)) return;
  const next = 'Call again in a few seconds. What a server has left undone is finished while one runs: covenant up.';
  throw new Refusal('BUSY', `${row.id} is ${DOING[row.step]} at this moment.`, next, { instance_id: row.id, step: row.step });
}

/** An instance of which this person may see, from here, what its agent shows. */
export async function requireWatchable(db: Db, viewer: Principal, id: string, machine: string): Promise<InstanceRow> {
  const row = await requireInstance(db, viewer.workspace, id);
  // First: where it runs is private too.
  if ((await instanceViewer(db, viewer, [])).isHidden(row)) {
    const message = `${id} works for a developer who keeps their work to themselves.`;
    throw new Refusal('INSTANCE_PRIVATE', message, 'Ask them, or the operator of the server.', { field: 'instance_id' });
  }
  requireHere(row, machine);
  return row;
}

/** The parent of a review, which must still be able to wait for it; if it changed meanwhile, the start of the review is undone. */
export async function requireParentReady(tx: Tx, { parent_instance_id }: InstanceRow): Promise<InstanceRow | undefined> {
  if (parent_instance_id === null) return undefined;
  const parent = await findInstance(tx.db, tx.workspace, parent_instance_id);
  if (!parent || !allows('review requested', parent.status)) throw new Error(`${parent_instance_id} is ${parent?.status ?? 'gone'} by now`);
  return parent;
}

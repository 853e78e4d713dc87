import type { CallContext } from '../../../kernel/context.ts';
import { type Hand, isUnderWay, messageOf } from '../../../kernel/step.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type OpenedWorktree, unclaimTask } from '../steps/index.ts';
import { isOneOf, requireTask, requireWorkflow, SYSTEM_MACHINE, type WorkflowTaskRow } from '../workflows/index.ts';
import { placeTask } from './assign.ts';
import { beginCreating, type Claim, claimGone, claimStands, currentWorktree, pending, type Start } from './begin.ts';
import { carryOutCreation } from './create.ts';
import { worktreeFailed } from './failure.ts';
import { reachRepository } from './reach.ts';
import type { Outside } from './step.ts';
import { unmergedDependencies } from './store.ts';

/** A claimed task gets a worktree of its own, or the one it has. Where there can be none the claim is undone, and the refusal says why. */
export async function openWorktree(outside: Outside, ctx: CallContext, task: WorkflowTaskRow, fence: number): Promise<OpenedWorktree | undefined> {
  const hand: Hand = { actor: ctx.principal.actor, signal: ctx.signal, write: (callback) => ctx.settle(callback) };
  const current = await currentWorktree(ctx.reader, task);
  // Its holder claims it again, to renew the lease: it works where it works.
  const wasBegun = isOneOf(SYSTEM_MACHINE.release.from, task.status);
  if (wasBegun && !current) return undefined;
  if (current && isUnderWay(current, ctx.clock.now())) {
    // Another call makes it for this very claim; anybody else's must first be cleared away.
    if (current.fence !== fence) await hand.write((tx) => unclaimTask(tx, task, fence, hand.actor, 'its worktree is being cleared away'));
    throw pending(task);
  }
  const isReady = current?.step === null && (wasBegun || current.made_by_server === 0 || (await isOnDisk(outside, current)));
  const { id, path, branch, base_branch } = current && isReady ? current : await make(outside, hand, ctx.reader, { task, fence });
  if (current && isReady) await hand.write((tx) => resume(tx, hand, current, { task, fence }));
  const unmerged = await unmergedDependencies(ctx.reader, ctx.workspace, task.id, id);
  return { id, path, branch, base_branch, ...(unmerged.length > 0 ? { unmerged_dependencies: unmerged } : {}) };
}

/** Where the repository cannot be looked at from here, what is known of the worktree is believed. */
async function isOnDisk(outside: Outside, { repository_path, path }: WorktreeRow): Promise<boolean> {
  try {
    return await outside.disk.hasWorktree((await reachRepository(outside, repository_path)).root, path);
  } catch {
    return true;
  }
}

async function resume(tx: Tx, hand: Hand, row: WorktreeRow, { task, fence }: Claim): Promise<void> {
  if (!(await claimStands(tx.db, { workspace_id: tx.workspace, task_id: task.id, fence }))) throw claimGone(task);
  await placeTask(tx, hand.actor, await requireTask(tx.db, tx.workspace, task.id), row.id);
}

async function make(outside: Outside, hand: Hand, db: Db, claim: Claim): Promise<WorktreeRow> {
  const { task, fence } = claim;
  let start: Start;
  try {
    const { repository_path } = await requireWorkflow(db, task.workspace_id, task.workflow_id);
    const { root } = await reachRepository(outside, repository_path, hand.signal);
    start = { root, branch: (await outside.disk.startingPoint(root, { signal: hand.signal })).branch };
  } catch (error) {
    await hand.write((tx) => unclaimTask(tx, task, fence, hand.actor, `no worktree: ${messageOf(error)}`));
    throw worktreeFailed(task, error);
  }
  const leased = await hand.write((tx) => beginCreating(tx, hand.actor, claim, start));
  const made = await carryOutCreation(outside, hand, leased);
  if ('row' in made) return made.row;
  throw made.failure === undefined ? claimGone(task) : worktreeFailed(task, made.failure);
}

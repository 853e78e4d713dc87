import { type Hand, messageOf, STEP_OVER } from '../../../kernel/step.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { unclaimTask } from '../steps/index.ts';
import { requireTask } from '../workflows/index.ts';
import { placeTask } from './assign.ts';
import { claimStands } from './begin.ts';
import { reachRepository } from './reach.ts';
import { clearFromDisk } from './remove.ts';
import { type Leased, type Outside, renew, stillMine } from './step.ts';
import { changeWorktree } from './store.ts';

export type Made = { readonly row: WorktreeRow } | { readonly failure: unknown };

/** From what was written down to what is there, or back to nothing. Can be begun again by whoever takes it over. */
export async function carryOutCreation(outside: Outside, hand: Hand, leased: Leased): Promise<Made> {
  let head: string;
  try {
    head = await addOnDisk(outside, hand, leased);
  } catch (failure) {
    await undoCreation(outside, hand, leased, messageOf(failure));
    return { failure };
  }
  const row = await hand.write((tx) => settleCreation(tx, hand, leased, head));
  if (row) return { row };
  await undoCreation(outside, hand, leased, 'the claim ended while the worktree was being made');
  return { failure: undefined };
}

async function addOnDisk(outside: Outside, { signal }: Hand, row: Leased): Promise<string> {
  const { root } = await reachRepository(outside, row.repository_path, signal);
  const base = await outside.disk.resolveCommit(root, `refs/heads/${row.base_branch}`, { signal });
  if (base === null) throw new Error(`the branch ${row.base_branch} that it starts from is gone`);
  return await outside.disk.addWorktree(root, { path: row.path, branch: row.branch, base, continues: row.base_commit !== null }, { signal });
}

async function settleCreation(tx: Tx, hand: Hand, leased: Leased, head: string): Promise<WorktreeRow | undefined> {
  const row = await stillMine(tx, leased);
  if (!row || !(await claimStands(tx.db, row))) return undefined;
  const values = { ...STEP_OVER, base_commit: row.base_commit ?? head, updated_at: tx.now };
  await changeWorktree(tx.db, row, values);
  const payload = { workflow_id: row.workflow_id, task_id: row.task_id, branch: row.branch, managed: true };
  tx.append({ category: 'work', kind: 'worktree.created', actor: hand.actor, subject: row.id, payload });
  await placeTask(tx, hand.actor, await requireTask(tx.db, tx.workspace, row.task_id as string), row.id);
  return { ...row, ...values };
}

/** What was made goes, as nobody was told of it; the claim goes with it. Nothing happens where another has taken over. */
export async function undoCreation(outside: Outside, hand: Hand, made: Leased, reason: string): Promise<void> {
  const leased = await hand.write((tx) => renew(tx, made));
  if (!leased) return;
  const left = leased.base_commit === null ? await clearFromDisk(outside, leased) : null;
  await hand.write(async (tx) => {
    const row = await stillMine(tx, leased);
    if (!row) return;
    const kept_reason = left === null || left === reason ? reason : `${reason}; left on disk: ${left}`;
    // One that was worked in before stays what it was: the work is on its branch.
    const closed = row.base_commit === null ? ({ status: 'abandoned', kept_reason, closed_at: tx.now } as const) : {};
    await changeWorktree(tx.db, row, { ...STEP_OVER, ...closed, updated_at: tx.now });
    if (row.task_id !== null && row.fence !== null) await unclaimTask(tx, { id: row.task_id }, row.fence, hand.actor, `no worktree: ${reason}`);
    const payload = { workflow_id: row.workflow_id, task_id: row.task_id, reason: kept_reason.slice(0, 200) };
    tx.append({ category: 'work', kind: 'worktree.failed', actor: hand.actor, subject: row.id, payload });
  });
}

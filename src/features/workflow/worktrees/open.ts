import type { CallContext } from '../../../kernel/context.ts';
import { Refusal } from '../../../kernel/errors.ts';
import { isUnderWay, messageOf, type StepRunner } from '../../../kernel/step.ts';
import { RepositoryUnfit } from '../../../machine/git/repository.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';
import type { Db } from '../../../storage/engine.ts';
import type { WorktreeRow } from '../../../storage/schema-rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type OpenedWorktree, unclaimTask } from '../steps/index.ts';
import { isOneOf, requireTask, requireWorkflow, SYSTEM_MACHINE, type WorkflowTaskRow } from '../workflows/index.ts';
import { placeTask } from './assign.ts';
import { beginCreating, carryOutCreation, claimGone, claimStands, currentWorktree, pending, type Start, type WorktreeClaim } from './create.ts';
import { reachRepository, type WorktreeOutside } from './step.ts';
import { unmergedDependencies } from './store.ts';

const SWITCH_OFF = 'or set auto_create_workspaces to false with workflow_set_parallelism and work in a worktree of your own (workspace_create)';

const NEXT: Record<RepositoryUnfit['why'], string> = {
  missing: `repository_path of the workflow must be a git repository on the server's machine: put it there, ${SWITCH_OFF}.`,
  not_git: `repository_path of the workflow must be a git repository on the server's machine: make it one, ${SWITCH_OFF}.`,
  detached: `Check out in the repository the branch that tasks should start from, ${SWITCH_OFF}.`,
  empty: `Make the first commit in the repository, ${SWITCH_OFF}.`,
};

function nextFor(error: unknown): string {
  if (error instanceof RepositoryUnfit) return NEXT[error.why];
  if (error instanceof ProgramMissing) return `Install ${error.program} on the server, ${SWITCH_OFF}.`;
  return `Put right what git complains of and claim the task again, ${SWITCH_OFF}.`;
}

/** What the agent that claimed the task is told. The claim has been undone. */
export function worktreeFailed(task: { id: string; name: string }, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal('WORKTREE_FAILED', `No worktree could be made for task ${JSON.stringify(task.name)}: ${messageOf(error)}.`, nextFor(error), {
    task_id: task.id,
    claimed: false,
  });
}

/** A claimed task gets a worktree of its own, or the one it has. Where there can be none the claim is undone, and the refusal says why. */
export async function openWorktree(outside: WorktreeOutside, ctx: CallContext, task: WorkflowTaskRow, fence: number): Promise<OpenedWorktree | undefined> {
  const runner: StepRunner = { actor: ctx.principal.actor, signal: ctx.signal, write: (callback) => ctx.settle(callback) };
  const current = await currentWorktree(ctx.reader, task);
  // Its holder claims it again, to renew the lease: it works where it works.
  const wasBegun = isOneOf(SYSTEM_MACHINE.release.from, task.status);
  if (wasBegun && !current) return undefined;
  if (current && isUnderWay(current, ctx.clock.now())) {
    // Another call makes it for this very claim; anybody else's must first be cleared away.
    if (current.fence !== fence) await runner.write((tx) => unclaimTask(tx, task, fence, runner.actor, 'its worktree is being cleared away'));
    throw pending(task);
  }
  const isReady = current?.step === null && (wasBegun || current.made_by_server === 0 || (await isOnDisk(outside, current)));
  const { id, path, branch, base_branch } = current && isReady ? current : await make(outside, runner, ctx.reader, { task, fence });
  if (current && isReady) await runner.write((tx) => resume(tx, runner, current, { task, fence }));
  const unmerged = await unmergedDependencies(ctx.reader, ctx.workspace, task.id, id);
  return { id, path, branch, base_branch, ...(unmerged.length > 0 ? { unmerged_dependencies: unmerged } : {}) };
}

/** Where the repository cannot be looked at from here, what is known of the worktree is believed. */
async function isOnDisk(outside: WorktreeOutside, { repository_path, path }: WorktreeRow): Promise<boolean> {
  try {
    return await outside.disk.hasWorktree((await reachRepository(outside, repository_path)).root, path);
  } catch {
    return true;
  }
}

async function resume(tx: Tx, runner: StepRunner, row: WorktreeRow, { task, fence }: WorktreeClaim): Promise<void> {
  if (!(await claimStands(tx.db, { workspace_id: tx.workspace, task_id: task.id, fence }))) throw claimGone(task);
  await placeTask(tx, runner.actor, await requireTask(tx.db, tx.workspace, task.id), row.id);
}

async function make(outside: WorktreeOutside, runner: StepRunner, db: Db, claim: WorktreeClaim): Promise<WorktreeRow> {
  const { task, fence } = claim;
  let start: Start;
  try {
    const { repository_path } = await requireWorkflow(db, task.workspace_id, task.workflow_id);
    const { root } = await reachRepository(outside, repository_path, runner.signal);
    start = { root, branch: (await outside.disk.startingPoint(root, { signal: runner.signal })).branch };
  } catch (error) {
    await runner.write((tx) => unclaimTask(tx, task, fence, runner.actor, `no worktree: ${messageOf(error)}`));
    throw worktreeFailed(task, error);
  }
  const leased = await runner.write((tx) => beginCreating(tx, runner.actor, claim, start));
  const made = await carryOutCreation(outside, runner, leased);
  if ('row' in made) return made.row;
  throw made.failure === undefined ? claimGone(task) : worktreeFailed(task, made.failure);
}

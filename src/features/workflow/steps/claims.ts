import { type CallContext, Deferred, record, type WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { excerpt } from '../../../kernel/excerpt.ts';
import { invalidState, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { settleAll } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import {
  type AgentRow,
  easeAgent,
  expireAgent,
  findAgent,
  isSilent,
  LEASE_MS,
  requireOnline,
  requireOwn,
  requireOwnAgent,
  statusAt,
  touchAgent,
} from '../agents/index.ts';
import {
  addCheckpoint,
  changeTask,
  claimedBeside,
  claimedCount,
  findTask,
  findWorkflowOf,
  isOneOf,
  isSatisfied,
  requireFound,
  requireHold,
  requireNotEnded,
  requireRunning,
  requireTask,
  type StoredTaskStatus,
  SYSTEM_MACHINE,
  shownStatus,
  syncOverlapOwner,
  syncOverlapStatus,
  type WorkflowRow,
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import { taskClaim, taskRelease } from './contract.ts';
import { holdsOther, openDependencies, silentHolders, tasksClaimedIn, tasksHeldBy } from './store.ts';

const MAX_NAMED = 10;

/** What the task waits for, said so that an agent can go and do that first. */
export async function taskBlocked(db: Db, task: WorkflowTaskRow): Promise<Refusal> {
  const names = await openDependencies(db, task.workspace_id, task.id, MAX_NAMED);
  const more = task.open_dependencies - names.length;
  const named = `${names.map((name) => JSON.stringify(name)).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return new Refusal('TASK_BLOCKED', `Task ${JSON.stringify(task.name)} waits for ${named}.`, 'Work on those first: workflow_next_tasks lists what is free.', {
    task_id: task.id,
    blocked_by: names,
    open_dependencies: task.open_dependencies,
  });
}

export const awaitingAnswer = (task: WorkflowTaskRow): Refusal =>
  new Refusal(
    'AWAITING_ANSWER',
    `Task ${JSON.stringify(task.name)} waits for a person to answer the question ${task.question_id}.`,
    'Work on something else until it is answered: the answer puts the task back by itself.',
    { task_id: task.id, question_id: task.question_id },
  );

/** The agent that holds it. */
export function requireClaimed({ id, name, assigned_agent_id }: WorkflowTaskRow): string {
  if (assigned_agent_id !== null) return assigned_agent_id;
  throw new Refusal('NOT_CLAIMED', `Nobody has claimed task ${JSON.stringify(name)}.`, 'There is nothing to release.', { field: 'task_id', task_id: id });
}

type ClaimResult =
  | { readonly success: false; readonly already_claimed_by: string }
  | {
      readonly success: true;
      /** False: the agent had it already. */
      readonly isNew: boolean;
      readonly fence: number;
      readonly lease_expires_at: number;
      /** As they stand with the claim made. */
      readonly task: WorkflowTaskRow;
      readonly workflow: WorkflowRow;
    };

/** Nothing but the store changes, so that it can be undone by `unclaimTask`. */
async function claimTask(tx: Tx, ctx: WriteContext, input: { task_id: string; agent_id: string }): Promise<ClaimResult> {
  const { db, workspace } = tx;
  const [named, found, around, claimed] = await settleAll([
    findAgent(db, workspace, input.agent_id),
    findTask(db, workspace, input.task_id),
    findWorkflowOf(db, workspace, input.task_id),
    claimedBeside(db, workspace, input.task_id),
  ]);
  const agent = requireOwn(named, ctx.principal, input.agent_id);
  requireOnline(agent, tx.now);
  let task = requireFound(found, input.task_id);
  const workflow = around as WorkflowRow;
  requireNotEnded(workflow);
  if (task.assigned_agent_id === agent.id) {
    await touchAgent(tx, agent);
    return { success: true, isNew: false, fence: task.fence, lease_expires_at: tx.now + LEASE_MS, task, workflow };
  }
  requireUnfinished(task);
  requireRunning(workflow);
  if (task.assigned_agent_id !== null) {
    const holder = await findAgent(tx.db, tx.workspace, task.assigned_agent_id);
    if (holder && !isSilent(holder, tx.now)) return { success: false, already_claimed_by: holder.id };
    await expireAgent(tx, task.assigned_agent_id, releaseClaimsOf);
    task = requireFound(await findTask(db, workspace, task.id), task.id);
  }
  if (task.question_id !== null) throw awaitingAnswer(task);
  if (task.status === 'pending' && task.open_dependencies > 0) throw await taskBlocked(tx.db, task);
  if (claimed >= workflow.max_parallel_tasks) await requireRoom(tx, workflow);
  return await take(tx, ctx, task, workflow, agent);
}

async function take(tx: Tx, ctx: WriteContext, task: WorkflowTaskRow, workflow: WorkflowRow, agent: AgentRow): Promise<ClaimResult> {
  const claim = { assigned_agent_id: agent.id, claimed_at: tx.now, fence: task.fence + 1, updated_at: tx.now };
  await settleAll([
    changeTask(tx.db, tx.workspace, task.id, claim),
    touchAgent(tx, agent, { status: 'busy', current_task_id: task.id }),
    syncOverlapOwner(tx, task.id, agent.developer_id),
  ]);
  const payload = { workflow_id: workflow.id, agent_id: agent.id, fence: claim.fence };
  record(tx, ctx, { category: 'work', kind: 'workflow.task_claimed', subject: task.id, payload });
  return { success: true, isNew: true, fence: claim.fence, lease_expires_at: tx.now + LEASE_MS, task: { ...task, ...claim }, workflow };
}

function requireUnfinished(task: WorkflowTaskRow): void {
  if (!isSatisfied(task.status)) return;
  throw invalidState(`Task ${JSON.stringify(task.name)} is ${task.status}: there is nothing left to claim.`, 'task_get_available lists what is free.', {
    field: 'task_id',
    task_id: task.id,
    status: task.status,
  });
}

/** Of a workflow that seems full: claims of agents that were silent for too long take up no room, even before the sweep has come by. */
async function requireRoom(tx: Tx, workflow: WorkflowRow): Promise<void> {
  const limit = workflow.max_parallel_tasks;
  for (const id of await silentHolders(tx.db, tx.workspace, workflow.id, tx.now)) await expireAgent(tx, id, releaseClaimsOf);
  const claimed = await claimedCount(tx.db, tx.workspace, workflow.id);
  if (claimed < limit) return;
  throw new Refusal(
    'PARALLEL_LIMIT',
    `${claimed} task${claimed === 1 ? '' : 's'} of workflow ${JSON.stringify(workflow.name)} ${claimed === 1 ? 'is' : 'are'} claimed, and its max_parallel_tasks is ${limit}.`,
    'Wait until one is finished, or raise the limit with workflow_set_parallelism.',
    { workflow_id: workflow.id, max_parallel_tasks: limit, claimed },
  );
}

/** Why a claim ended, and by whose doing. */
interface Why {
  readonly reason: string;
  readonly actor: string;
  readonly session?: string | null;
}

const SHORT = 200;
export const UNCLAIMED = { assigned_agent_id: null, claimed_at: null } as const;

/** The claim goes; what was begun goes back to where it can be taken up anew. `task` must be as it stands now. */
async function giveBack(tx: Tx, task: WorkflowTaskRow, why: Why): Promise<void> {
  const agentId = task.assigned_agent_id;
  const wasBegun = isOneOf(SYSTEM_MACHINE.release.from, task.status);
  // A question is out: its answer decides where the task goes.
  const status = wasBegun && task.question_id === null ? SYSTEM_MACHINE.release.to : task.status;
  const fence = task.fence + 1;
  await changeTask(tx.db, tx.workspace, task.id, { ...UNCLAIMED, status, fence, resume_status: null, updated_at: tx.now });
  if (wasBegun) {
    const summary = `The claim of agent ${agentId} ended while the task was ${task.status}: ${why.reason}`;
    await addCheckpoint(tx, task, { type: 'recovery', summary, detail: { from: task.status, agent_id: agentId }, agentId, actor: why.actor });
  }
  const payload = { workflow_id: task.workflow_id, agent_id: agentId, reason: excerpt(why.reason, SHORT), from: shownStatus(task), to: status, fence };
  tx.append({ category: 'work', kind: 'workflow.task_released', actor: why.actor, subject: task.id, session: why.session ?? null, payload });
  if (status !== task.status) await syncOverlapStatus(tx, task, status);
  await syncOverlapOwner(tx, task.id, null);
}

/** The agent of a claim that has ended is free for other work, unless it has some. */
export async function markIdle(tx: Tx, agentId: string | null, taskIds: readonly string[]): Promise<void> {
  if (agentId !== null) await easeAgent(tx, agentId, taskIds, holdsOther(tx.db, tx.workspace, agentId, taskIds));
}

export async function releaseTask(tx: Tx, task: WorkflowTaskRow, why: Why): Promise<void> {
  await giveBack(tx, task, why);
  await markIdle(tx, task.assigned_agent_id, [task.id]);
}

/** Of an agent that is gone. Answers how many tasks it held. */
export async function releaseClaimsOf(tx: Tx, agent: Pick<AgentRow, 'id'>, why: Why): Promise<number> {
  const held = await tasksHeldBy(tx.db, tx.workspace, agent.id);
  for (const task of held) await giveBack(tx, task, why);
  return held.length;
}

/** Of a workflow that has ended: the claims go, and the tasks stay as they were left. */
export async function releaseClaimsIn(tx: Tx, workflow: Pick<WorkflowRow, 'id'>, actor: string): Promise<number> {
  const held = await tasksClaimedIn(tx.db, tx.workspace, workflow.id);
  for (const task of held) {
    const fence = task.fence + 1;
    await changeTask(tx.db, tx.workspace, task.id, { ...UNCLAIMED, fence, updated_at: tx.now });
    const payload = { workflow_id: workflow.id, agent_id: task.assigned_agent_id, reason: 'workflow ended', from: task.status, to: task.status, fence };
    tx.append({ category: 'work', kind: 'workflow.task_released', actor, subject: task.id, payload });
  }
  for (const [agentId, tasks] of Map.groupBy(held, (task) => task.assigned_agent_id)) {
    await markIdle(
      tx,
      agentId,
      tasks.map(({ id }) => id),
    );
  }
  return held.length;
}

/** Undoes the claim that was made under `fence`, unless it is another's by now. */
export async function unclaimTask(tx: Tx, task: Pick<WorkflowTaskRow, 'id'>, fence: number, actor: string, reason: string): Promise<boolean> {
  const now = await findTask(tx.db, tx.workspace, task.id);
  if (now?.fence !== fence || now.assigned_agent_id === null) return false;
  await releaseTask(tx, now, { reason, actor });
  return true;
}

async function move(
  tx: Tx,
  task: WorkflowTaskRow,
  values: Partial<WorkflowTaskRow> & { status: StoredTaskStatus },
  actor: string,
  reason: string,
): Promise<void> {
  await changeTask(tx.db, tx.workspace, task.id, { ...values, updated_at: tx.now });
  if (values.status === task.status) return;
  const payload = { workflow_id: task.workflow_id, from: shownStatus(task), to: values.status, reason };
  tx.append({ category: 'work', kind: 'workflow.task_status_changed', actor, subject: task.id, payload });
  await syncOverlapStatus(tx, task, values.status);
}

/** The task waits for a person. Whoever asks must be allowed to write to it, and its status one that a question can pause. */
export async function pauseForQuestion(tx: Tx, task: WorkflowTaskRow, questionId: string, actor = 'server'): Promise<void> {
  const { status } = task;
  if (status !== 'planning' && status !== 'in_progress') throw new Error(`a question cannot pause a task that is ${status}`);
  await move(tx, task, { status: SYSTEM_MACHINE.ask.to, question_id: questionId, resume_status: status }, actor, 'question asked');
}

/** The question is settled: the task goes on where it was, or, when its agent has gone meanwhile, back to pending. Answers which. */
export async function resumeAfterAnswer(tx: Tx, task: WorkflowTaskRow, actor: string): Promise<StoredTaskStatus> {
  const status = task.status === 'paused' ? await statusAfter(tx, task) : task.status;
  await move(tx, task, { status, question_id: null, resume_status: null }, actor, 'question settled');
  return status;
}

async function statusAfter(tx: Tx, task: WorkflowTaskRow): Promise<StoredTaskStatus> {
  const back = task.resume_status ?? 'pending';
  // Nobody ever held it, or whoever did has given it back, and with it where it was.
  if (task.assigned_agent_id === null) return back;
  const holder = await findAgent(tx.db, tx.workspace, task.assigned_agent_id);
  return holder && statusAt(holder, tx.now) !== 'offline' ? back : 'pending';
}

export type OpenedWorktree = NonNullable<Output<typeof taskClaim>['workspace']>;

export interface StepPorts {
  /** Gives the claimed task a git worktree of its own. Where it cannot, it undoes the claim and throws the refusal. */
  openWorktree(ctx: CallContext, task: WorkflowTaskRow, fence: number): Promise<OpenedWorktree | undefined>;
}

export const claimTools = ({ openWorktree }: StepPorts): Implementation[] => [
  implement(taskClaim, {
    begin: async (tx, input, ctx) => {
      const claim = await claimTask(tx, ctx, input);
      if (!claim.success) return ok({ success: false, already_claimed_by: claim.already_claimed_by });
      const { fence, lease_expires_at, task, workflow } = claim;
      return workflow.auto_create_workspaces ? new Deferred({ fence, lease_expires_at, task }) : ok({ success: true, lease_expires_at, fence });
    },
    act: async ({ fence, lease_expires_at, task }, _, ctx) => {
      const workspace = await openWorktree(ctx, task, fence);
      return ok({ success: true, lease_expires_at, fence, ...(workspace ? { workspace } : {}) });
    },
  }),
  implement(taskRelease, {
    write: async (tx, { task_id, agent_id, reason = 'released by its agent', fence }, ctx) => {
      const agent = await requireOwnAgent(tx.db, ctx.principal, agent_id);
      const task = await requireTask(tx.db, tx.workspace, task_id);
      requireClaimed(task);
      await requireHold(tx, ctx, task, { agent_id: agent.id, fence });
      const { actor } = ctx.principal;
      await releaseTask(tx, task, { reason, actor, session: ctx.session });
      return ok({ success: true as const });
    },
  }),
];

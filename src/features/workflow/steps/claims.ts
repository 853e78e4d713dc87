import { type CallContext, Deferred, record, type WriteContext } from '../../../kernel/call.ts';
import type { Output } from '../../../kernel/contract.ts';
import { invalidState, ok, Refusal } from '../../../kernel/reply.ts';
import { type Implementation, implement } from '../../../kernel/tool.ts';
import type { Db } from '../../../storage/engine.ts';
import { settleAll } from '../../../storage/rows.ts';
import type { Tx } from '../../../storage/write.ts';
import { type AgentRow, expireAgent, findAgent, isSilent, LEASE_MS, requireOnline, requireOwn, requireOwnAgent, touchAgent } from '../agents/index.ts';
import {
  changeTask,
  claimedBeside,
  claimedCount,
  findTask,
  findWorkflowOf,
  isSatisfied,
  requireFound,
  requireHold,
  requireNotEnded,
  requireRunning,
  requireTask,
  syncOverlapOwner,
  type WorkflowRow,
  type WorkflowTaskRow,
} from '../workflows/index.ts';
import { taskClaim, taskRelease } from './contract.ts';
import { releaseClaimsOf, releaseTask, requireClaimed } from './release.ts';
import { openDependencies, silentHolders } from './store.ts';

export type OpenedWorktree = NonNullable<Output<typeof taskClaim>['workspace']>;

export interface StepPorts {
  /** Creates a git worktree for the claimed task. On failure, it undoes the claim and throws the refusal. */
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

type ClaimResult =
  | { readonly success: false; readonly already_claimed_by: string }
  | {
      readonly success: true;
      readonly fence: number;
      readonly lease_expires_at: number;
      /** The task and the workflow, both as they are after the claim. */
      readonly task: WorkflowTaskRow;
      readonly workflow: WorkflowRow;
    };

/** Claims the task. Changes nothing except the store, so that `unclaimTask` can undo the claim. */
async function claimTask(tx: Tx, ctx: WriteContext, input: { task_id: string; agent_id: string }): Promise<ClaimResult> {
  const { db, workspace } = tx;
  const [agentRow, taskRow, workflowRow, claimed] = await settleAll([
    findAgent(db, workspace, input.agent_id),
    findTask(db, workspace, input.task_id),
    findWorkflowOf(db, workspace, input.task_id),
    claimedBeside(db, workspace, input.task_id),
  ]);
  const agent = requireOwn(agentRow, ctx.principal, input.agent_id);
  requireOnline(agent, tx.now);
  let task = requireFound(taskRow, input.task_id);
  const workflow = workflowRow as WorkflowRow;
  requireNotEnded(workflow);
  if (task.assigned_agent_id === agent.id) {
    await touchAgent(tx, agent);
    return { success: true, fence: task.fence, lease_expires_at: tx.now + LEASE_MS, task, workflow };
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
  return await storeClaim(tx, ctx, task, workflow, agent);
}

async function storeClaim(tx: Tx, ctx: WriteContext, task: WorkflowTaskRow, workflow: WorkflowRow, agent: AgentRow): Promise<ClaimResult> {
  const claim = { assigned_agent_id: agent.id, claimed_at: tx.now, fence: task.fence + 1, updated_at: tx.now };
  await settleAll([
    changeTask(tx.db, tx.workspace, task.id, claim),
    touchAgent(tx, agent, { status: 'busy', current_task_id: task.id }),
    syncOverlapOwner(tx, task.id, agent.developer_id),
  ]);
  const payload = { workflow_id: workflow.id, agent_id: agent.id, fence: claim.fence };
  record(tx, ctx, { category: 'work', kind: 'workflow.task_claimed', subject: task.id, payload });
  return { success: true, fence: claim.fence, lease_expires_at: tx.now + LEASE_MS, task: { ...task, ...claim }, workflow };
}

function requireUnfinished(task: WorkflowTaskRow): void {
  if (!isSatisfied(task.status)) return;
  throw invalidState(
    `Task ${JSON.stringify(task.name)} is ${task.status}, so it cannot be claimed.`,
    'Call task_get_available with your agent_id to find a task that you can claim.',
    {
      field: 'task_id',
      task_id: task.id,
      status: task.status,
    },
  );
}

/** Call this if the workflow seems to be at its parallel limit. Releases the claims of silent agents first, because the sweep that does this may be late. */
async function requireRoom(tx: Tx, workflow: WorkflowRow): Promise<void> {
  const limit = workflow.max_parallel_tasks;
  for (const id of await silentHolders(tx.db, tx.workspace, workflow.id, tx.now)) await expireAgent(tx, id, releaseClaimsOf);
  const claimed = await claimedCount(tx.db, tx.workspace, workflow.id);
  if (claimed < limit) return;
  throw new Refusal(
    'PARALLEL_LIMIT',
    `Workflow ${JSON.stringify(workflow.name)} already has ${claimed} claimed task${claimed === 1 ? '' : 's'}, and its max_parallel_tasks is ${limit}.`,
    `Wait until a task is finished, or raise the limit: workflow_set_parallelism with id "${workflow.id}" and max_parallel_tasks ${claimed + 1}.`,
    { workflow_id: workflow.id, max_parallel_tasks: limit, claimed },
  );
}

const MAX_NAMED = 10;

/** The refusal lists the unfinished dependencies, so that the agent can work on them first. */
export async function taskBlocked(db: Db, task: WorkflowTaskRow): Promise<Refusal> {
  const names = await openDependencies(db, task.workspace_id, task.id, MAX_NAMED);
  const more = task.open_dependencies - names.length;
  const named = `${names.map((name) => JSON.stringify(name)).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const next = `Work on those first: call workflow_next_tasks with workflow_id "${task.workflow_id}" to see which tasks can be claimed.`;
  return new Refusal('TASK_BLOCKED', `Task ${JSON.stringify(task.name)} waits for ${named}.`, next, {
    task_id: task.id,
    blocked_by: names,
    open_dependencies: task.open_dependencies,
  });
}

export const awaitingAnswer = (task: WorkflowTaskRow): Refusal =>
  new Refusal(
    'AWAITING_ANSWER',
    `Task ${JSON.stringify(task.name)} waits for a person to answer question ${task.question_id}.`,
    'Work on another task until then: call task_get_available with your agent_id. The answer resumes this task automatically.',
    { task_id: task.id, question_id: task.question_id },
  );

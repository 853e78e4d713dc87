import type { CallContext } from '../../../kernel/context.ts';
import type { Output } from '../../../kernel/contract.ts';
import type { WorkflowTaskRow } from '../workflows/index.ts';
import type { taskClaim } from './contract.ts';

export type OpenedWorktree = NonNullable<Output<typeof taskClaim>['workspace']>;

export interface ExecutionPorts {
  /** Gives the claimed task a git worktree of its own. Where it cannot, it undoes the claim and throws the refusal. */
  openWorktree(ctx: CallContext, task: WorkflowTaskRow, fence: number): Promise<OpenedWorktree | undefined>;
}

import { Refusal } from '../../../kernel/errors.ts';
import { messageOf } from '../../../kernel/step.ts';
import { RepositoryUnfit } from '../../../machine/git/repository.ts';
import { ProgramMissing } from '../../../machine/process/process.ts';

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

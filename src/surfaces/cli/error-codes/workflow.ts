import type { ErrorCodes } from './index.ts';

export const workflowCodes = {
  AGENT_NOT_FOUND: {
    meaning: 'The workspace has no agent with this id.',
    cause: 'The agent is not registered, has left, or the id is wrong.',
    next: 'Call `agent_list` for the agents, or `agent_register` to register yourself. People run `covenant agents list`.',
  },
  AWAITING_ANSWER: {
    meaning: 'The task waits until a person answers a question.',
    cause: 'An agent asked people a question about this task.',
    next: 'Work on another task. The answer makes the task claimable again. People run `covenant messages answer ID TEXT`.',
  },
  BUDGET_TOO_SMALL: {
    meaning: '`max_tokens` is too small for even the shortest answer, which contains only ids and names.',
    cause: 'The ids and names of the workflow and its tasks take more tokens than `max_tokens` allows.',
    next: 'Repeat the call (`task_load_context` or `workflow_get_summary`) with at least the `max_tokens` that the message names.',
  },
  DEPENDENCY_CYCLE: {
    meaning: 'Tasks depend on each other in a circle.',
    cause: 'The `depends_on` lists form the circle that the message shows.',
    next: 'Remove one of these dependencies and repeat the call.',
  },
  DUPLICATE_TASK_NAME: {
    meaning: 'Two tasks of the workflow have the same name.',
    cause: '`depends_on` refers to tasks by name, so each name can be used once in a workflow.',
    next: 'Use the existing task, or give the new one another name.',
  },
  DUPLICATE_TEMPLATE: {
    meaning: 'The workspace already has a template with this name.',
    cause: 'Template names are unique in a workspace.',
    next: 'Use the template that the message names, or choose another name.',
  },
  FOREIGN_AGENT: {
    meaning: 'The agent was registered with another token.',
    cause: 'Only the developer who registered an agent can act as that agent.',
    next: 'Call `agent_register` and use the id that it returns.',
  },
  INVALID_TRANSITION: {
    meaning: 'The status cannot change in this way.',
    cause: 'The state machine does not allow this change from the current status.',
    next: 'Make the call that the message names. `task_get` or `workflow_get` shows the current status.',
  },
  MESSAGE_EXPIRED: {
    meaning: 'The message has expired.',
    cause: 'The sender limited how long the message is valid.',
    next: 'If you still need it, call `message_send` with your `sender_id`, `recipient_id` "@private", `reply_to_id` set to its id, `message_type` "query" and a body.',
  },
  MESSAGE_NOT_FOUND: {
    meaning: 'No message, ask, hand-off or announcement with this id is visible to you.',
    cause: 'The id is wrong, or the message is addressed to others.',
    next: 'Call `message_list` with your `agent_id`. People run `covenant messages list`.',
  },
  MISSING_ERROR: {
    meaning: 'The status "failed" needs a description of the error.',
    cause: '`task_update_status` set "failed" without `error`.',
    next: 'Send the call again with `error`, which tells the next agent what went wrong.',
  },
  MISSING_MERGE_COMMIT: {
    meaning: 'A merged worktree needs the hash of its merge commit.',
    cause: '`workspace_update` set "merged" without `merge_commit`.',
    next: 'Send the call again with `merge_commit` set to the full hash.',
  },
  MISSING_OUTCOME: {
    meaning: 'The status "completed" needs an outcome.',
    cause: '`task_update_status` set "completed" without `outcome`.',
    next: 'Send the call again with `outcome`, which dependent tasks read.',
  },
  MISSING_VARIABLES: {
    meaning: 'The template needs values for more variables.',
    cause: 'Variables without a default were left out.',
    next: 'Call again with a value for each name in `variables`.',
  },
  NOTHING_TO_REMIND_OF: {
    meaning: 'The thread has no open question.',
    cause: 'A reminder needs an unanswered ask, query or question.',
    next: 'Run `covenant messages list --state unanswered` to list the messages that nobody has answered.',
  },
  NOT_ASSIGNED: {
    meaning: 'The agent does not hold the task.',
    cause: 'The task was never claimed by this agent, or another agent claimed it.',
    next: 'Call `task_get_available` with your `agent_id`, then `task_claim`.',
  },
  NOT_A_QUESTION: {
    meaning: 'The thread has no question for the people of the team.',
    cause: 'It is a message between agents.',
    next: 'Run `covenant messages list --kind question` to list the questions that people can answer.',
  },
  NOT_CLAIMED: {
    meaning: 'No agent holds the task, so it cannot be released.',
    cause: 'The claim ended or was released earlier.',
    next: 'Do nothing: any agent can claim the task with `task_claim`.',
  },
  PARALLEL_LIMIT: {
    meaning: 'Agents have already claimed as many tasks of this workflow as it allows.',
    cause: '`max_parallel_tasks` limits how many tasks agents can claim at the same time.',
    next: 'Wait until a task is finished, or raise the limit with `workflow_set_parallelism` or `covenant workflow parallel ID N`.',
  },
  PATH_IN_USE: {
    meaning: 'The path is already a registered worktree.',
    cause: '`workspace_create` registered this path earlier, and that worktree is still active.',
    next: 'Use the worktree that the message names. Or close it first: `workspace_update` with `id` and `status` "abandoned", or "merged" and `merge_commit`.',
  },
  QUESTION_CLOSED: {
    meaning: 'The question was already answered, or it has expired.',
    cause: 'Somebody answered first, or the task ended.',
    next: 'Run `covenant messages list --kind question` to list the open questions.',
  },
  QUESTION_OPEN: {
    meaning: 'The task already waits for an answer.',
    cause: 'A task can wait for the answer to only one question at a time.',
    next: 'Wait for the answer, which arrives as a message. Send a further question without `task_id`.',
  },
  RECIPIENT_NOT_FOUND: {
    meaning: 'The recipient of the message does not exist.',
    cause: '`recipient_id` names no agent of the workspace.',
    next: 'Call `agent_list` and use one of its ids.',
  },
  REMINDED_RECENTLY: {
    meaning: 'A reminder was sent less than 15 minutes ago.',
    cause: 'Reminders are limited to one in 15 minutes for each message.',
    next: 'Run `covenant messages remind ID` again after the time in the message.',
  },
  SELF_DEPENDENCY: {
    meaning: 'A task depends on itself.',
    cause: 'Its own name is in its `depends_on`.',
    next: 'Remove the name and repeat the call.',
  },
  SENDER_NOT_FOUND: {
    meaning: 'The sender of the message is not registered.',
    cause: '`sender_id` names no agent of the workspace.',
    next: 'Call `agent_register` and use the id that it returns.',
  },
  STALE_CLAIM: {
    meaning: 'The claim has ended, so the server refused the write.',
    cause: 'The lease ran out after 90 seconds of silence, or the task was released and claimed again with a higher fence.',
    next: 'Stop working on the task. Call `task_claim`, then `task_load_context`, and use the new `fence`.',
  },
  TASK_BLOCKED: {
    meaning: 'The task depends on unfinished tasks.',
    cause: 'Its dependencies are not completed or skipped yet.',
    next: 'Call `workflow_next_tasks` and claim a task that is ready.',
  },
  TASK_NOT_FOUND: {
    meaning: 'No task with this id is visible to you.',
    cause: 'The id is wrong, or the task belongs to another workspace or developer.',
    next: 'For a workflow, call `workflow_get` with `include_tasks: true`. For team tasks, call `covibe_team` operation `state`.',
  },
  TASK_NOT_REMOVABLE: {
    meaning: 'The task cannot be removed from the workflow.',
    cause: 'An agent holds the task, it waits for an answer, it has started or ended, or its removal would create too many dependencies.',
    next: 'If an agent holds it, ask that agent to call `task_release`, or run `covenant workflow release TASK`. If it waits for an answer, wait. If it has too many dependencies, first remove some of those tasks with `workflow_remove_task`. If it has started or ended, do nothing: only an unclaimed task that is pending, blocked, planning or failed can be removed.',
  },
  TEMPLATE_NOT_FOUND: {
    meaning: 'The workspace has no template with this id.',
    cause: 'The id is wrong, or the template was deleted.',
    next: 'Call `template_list` and use one of its ids.',
  },
  TOO_MANY_DEPENDENCIES: {
    meaning: 'The plan has more dependencies than a workflow allows.',
    cause: 'Many tasks name indirect dependencies.',
    next: 'Name only direct dependencies: if c depends on b and b depends on a, c need not depend on a.',
  },
  TOO_MANY_RECIPIENTS: {
    meaning: 'The message would reach too many agents.',
    cause: 'The recipient filter is too wide.',
    next: 'Narrow `recipient_filter` by role, status or runtime.',
  },
  TOO_MANY_TASKS: {
    meaning: 'The workflow has as many tasks as it allows.',
    cause: "The limit protects the server and the agents' context.",
    next: 'Create another workflow for the remaining tasks.',
  },
  UNKNOWN_COMMIT: {
    meaning: 'The repository does not have this commit.',
    cause: 'The hash is wrong, shortened or only in another clone.',
    next: 'Call `workspace_update` again with `id`, `status` "merged" and the full hash as `merge_commit`. If the commit is only in another clone, push it there and run `git fetch` in the server\'s repository first.',
  },
  UNKNOWN_DEPENDENCY: {
    meaning: 'A task names a dependency that does not exist.',
    cause: '`depends_on` has a name that no task of the plan has.',
    next: 'Correct the name. Names must match exactly.',
  },
  UNKNOWN_VARIABLE: {
    meaning: 'The template has no such variable.',
    cause: '`variables` has a name that the template does not use.',
    next: 'Use only the variables that the message names.',
  },
  WORKFLOW_MISMATCH: {
    meaning: 'The task belongs to another workflow.',
    cause: '`task_id` and `workflow_id` do not belong together.',
    next: 'Send the `workflow_id` that the message names, or leave it out where it is optional.',
  },
  WORKFLOW_NOT_FOUND: {
    meaning: 'The workspace has no workflow with this id.',
    cause: 'The id is wrong, or the workflow belongs to another workspace.',
    next: 'Call `workflow_list`, or run `covenant workflow list`.',
  },
  WORKTREE_FAILED: {
    meaning: 'The server could not create the git worktree for the task.',
    cause: 'Git refused, the disk is full, or the branch already exists.',
    next: 'Correct the problem that the message names, then call `task_claim` again.',
  },
  WORKTREE_PENDING: {
    meaning: 'The server is creating or removing the worktree of the task.',
    cause: 'Another call started this work a moment ago.',
    next: 'Call `task_claim` again in a few seconds.',
  },
} satisfies ErrorCodes;

/** The values from which the prompt of a new agent is made. Every prompt begins with fixed text, so that no program takes it for a command-line option. */
export interface AgentAssignment {
  readonly id: string;
  readonly branch: string;
  readonly baseBranch: string;
  readonly issue: number | null;
  /** The text from the person who started the agent. */
  readonly prompt: string | undefined;
}

export function codingPrompt({ id, branch, baseBranch, issue, prompt }: AgentAssignment): string {
  return joined(
    `You are ${id}, a coding agent. You work in your own git worktree, on branch ${branch}, which starts from ${baseBranch}.`,
    issue === null ? undefined : `Your task is issue ${issue} of this repository. ${readIssue(issue)}`,
    prompt === undefined ? undefined : `${issue === null ? 'Your task' : 'Additional instructions'}:\n\n${prompt}`,
    `How to work, with the tools of the MCP server covenant:
- Stay in this worktree and on this branch. Commit as you go: only commits are reviewed.
- When the work is done, tested and committed, call request_review with a completion_message that says what you did. A review agent reviews it.
- Then wait. You are notified of feedback, which is merged into your branch as REVIEW_FEEDBACK.md. Without a terminal, end your turn; the server
  restarts you. Act on the feedback, commit, and call request_review again. The number of reviews is limited.
- If the reviewer approves, it opens the pull request and you are done. At the limit, or if no review is needed, open it yourself with
  create_pull_request (base_branch ${baseBranch}).`,
  );
}

export function planningPrompt({ id, branch, baseBranch, issue, prompt }: AgentAssignment): string {
  return joined(
    `You are ${id}, a planning agent. You work in your own git worktree, on branch ${branch}, which starts from ${baseBranch}.`,
    issue === null ? undefined : `Your task is to plan issue ${issue} of this repository. ${readIssue(issue)}`,
    prompt === undefined ? undefined : `${issue === null ? 'Your planning task' : 'Additional instructions'}:\n\n${prompt}`,
    `How to work, with the tools of the MCP server covenant:
- Read the code and its documentation. Change no code.
- Split the work into issues, each small enough for one agent and clear to a reader who knows only the repository: goal, reason, place in the
  code, and how to verify the result. Create them with create_issues.
- Commit documents that belong to the plan on this branch, and propose them with create_pull_request (base_branch ${baseBranch}).`,
  );
}

const readIssue = (issue: number): string =>
  `Read it first, with its comments: \`gh issue view ${issue} --comments\` if gh is installed, else on the repository's host. If you cannot read it, say so instead of guessing.`;

const joined = (...parts: (string | undefined)[]): string => parts.filter((part) => part !== undefined).join('\n\n');

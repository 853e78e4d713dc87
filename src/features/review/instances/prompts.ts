/** The prompt of an agent at its start. It begins with our own words, so that no program takes it for an option. */
export interface AgentAssignment {
  readonly id: string;
  readonly branch: string;
  readonly baseBranch: string;
  readonly issue: number | null;
  /** The words of the person who started it. */
  readonly prompt: string | undefined;
}

export function codingPrompt({ id, branch, baseBranch, issue, prompt }: AgentAssignment): string {
  return joined(
    `You are ${id}, a coding agent. You work in a git worktree of your own, on branch ${branch}, which starts from ${baseBranch}.`,
    issue === null ? undefined : `Your task is issue ${issue} of this repository. ${readIssue(issue)}`,
    prompt === undefined ? undefined : `${issue === null ? 'Your task' : 'What you are told besides'}:\n\n${prompt}`,
    `How to work, with the tools of the MCP server covenant:
- Stay in this worktree and on this branch. Commit as you go: what is not committed is not reviewed.
- When the work is done, tested and committed, call request_review, and say in completion_message what you did. A review agent looks at it.
- Then wait. You are told when there is feedback: it is merged into your branch as REVIEW_FEEDBACK.md. Without a terminal, end your turn: you are
  started again. Do what the feedback asks, commit, and call request_review again. The number of reviews is limited.
- If the reviewer approves, it opens the pull request and you are done. At the limit, or where no review is needed, open it yourself with
  create_pull_request (base_branch ${baseBranch}).`,
  );
}

export function planningPrompt({ id, branch, baseBranch, issue, prompt }: AgentAssignment): string {
  return joined(
    `You are ${id}, a planning agent. You work in a git worktree of your own, on branch ${branch}, which starts from ${baseBranch}.`,
    issue === null ? undefined : `What is to be planned is issue ${issue} of this repository. ${readIssue(issue)}`,
    prompt === undefined ? undefined : `${issue === null ? 'What is to be planned' : 'What you are told besides'}:\n\n${prompt}`,
    `How to work, with the tools of the MCP server covenant:
- Read the code and what is written about it. Change no code.
- Split the work into issues, each small enough for one agent and clear to somebody who knows only the repository: what is wanted, why, where,
  and how one sees that it is done. Create them with create_issues.
- Documents that belong to the plan are committed on this branch and proposed with create_pull_request (base_branch ${baseBranch}).`,
  );
}

const readIssue = (issue: number): string =>
  `Read it first, with its comments: \`gh issue view ${issue} --comments\` where gh is installed, else on the repository's host. If you cannot, say so instead of guessing.`;

const joined = (...parts: (string | undefined)[]): string => parts.filter((part) => part !== undefined).join('\n\n');

import { z } from 'zod';
import { branch, contract, text, title } from '../../../kernel/contract.ts';

export const createPullRequest = contract({
  name: 'create_pull_request',
  toolset: 'review',
  title: 'Create a pull request',
  description:
    'Pushes the branch and opens a pull request on GitHub. A coding or planning agent: of its own branch. A review agent: of the branch that it ' +
    'reviews, which approves the work and ends the review. Only what is committed is in it. Called again after more commits, it pushes them to the same ' +
    'pull request and gives it the new title and description.',
  input: z.strictObject({
    title: title.max(256),
    description: text(60_000),
    base_branch: branch.default('main').describe('The branch on GitHub that the work is for.'),
  }),
  output: z.strictObject({
    pr_number: z.int(),
    pr_url: z.string(),
    branch_name: z.string(),
    not_included: z.string().nullable().describe('What is not part of it, in words: what is uncommitted, or was committed after the review that approves it.'),
  }),
  annotations: { openWorldHint: true },
});

const issue = z.strictObject({
  title: title.max(256),
  body: text(60_000),
  labels: z.array(title.max(50)).max(50).optional(),
  assignees: z.array(title.max(100)).max(10).optional(),
});

export const createIssues = contract({
  name: 'create_issues',
  agentType: 'planning',
  toolset: 'review',
  title: 'Create issues',
  description:
    'For planning agents: creates GitHub issues, in this order. The answer says which were created and which were not, and why; call again with those ' +
    'alone. If the call takes too long, the rest is created all the same and a message tells you.',
  input: z.strictObject({ issues: z.array(issue).min(1).max(50) }),
  output: z.strictObject({
    created: z.array(z.strictObject({ index: z.int(), number: z.int(), url: z.string(), title: z.string() })),
    failed: z.array(z.strictObject({ index: z.int(), title: z.string(), message: z.string() })),
  }),
  annotations: { openWorldHint: true },
});
